// Times a call: warm-up, batches long enough for the clock, samples, and single calls.
#pragma once

#include <convoy/status.h>

#include <cstdint>
#include <functional>

#include "bench/row.h"

namespace convoy::bench {

struct SampleOptions {
  double batch_us = 60;      // one sample takes at least this long
  double budget_us = 150e3;  // of all samples together
  int64_t least = 9, most = 301;
  std::function<bool()> stop;  // asked between samples; true ends with what there is
};

// How many calls make a sample of at least batch_us, and how many samples the budget allows.
struct SamplePlan {
  int64_t calls, samples;
};
SamplePlan plan_samples(double call_us, const SampleOptions& options);

// call(i) runs the i-th call: i rises over warm-up, samples and single calls alike.
Result<Timing> time_calls(const std::function<Status(int64_t)>& call, const SampleOptions& options);

}  // namespace convoy::bench
