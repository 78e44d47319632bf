// Order statistics of timing samples.
#pragma once

#include <cstdint>
#include <vector>

namespace convoy::bench {

// The value below which a part q of the samples lies, interpolated; NaN without samples.
double percentile(std::vector<double> samples, double q);

struct Summary {
  int64_t samples = 0;
  double median_us = 0, p10_us = 0, p90_us = 0;
};
Summary summarize(const std::vector<double>& samples_us);

}  // namespace convoy::bench
