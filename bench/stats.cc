// Order statistics of timing samples.
#include "bench/stats.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace convoy::bench {

double percentile(std::vector<double> samples, double q) {
  if (samples.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::sort(samples.begin(), samples.end());
  const double at = q * static_cast<double>(samples.size() - 1);
  const auto low = static_cast<size_t>(std::floor(at));
  const size_t high = std::min(low + 1, samples.size() - 1);
  return samples[low] + (at - std::floor(at)) * (samples[high] - samples[low]);
}

Summary summarize(const std::vector<double>& samples_us) {
  return {.samples = static_cast<int64_t>(samples_us.size()),
          .median_us = percentile(samples_us, 0.5),
          .p10_us = percentile(samples_us, 0.1),
          .p90_us = percentile(samples_us, 0.9)};
}

}  // namespace convoy::bench
