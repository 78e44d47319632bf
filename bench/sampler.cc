// Times a call: warm-up, batches long enough for the clock, samples, and single calls.
#include "bench/sampler.h"

#include <algorithm>
#include <cmath>

#include "launch/timer.h"

namespace convoy::bench {
namespace {

constexpr double kWarmUpUs = 5e3;
constexpr int kWarmUpCalls = 3;
constexpr int kSingleCalls = 5;

class Caller {
 public:
  explicit Caller(const std::function<Status(int64_t)>& call) : call_(call) {}

  // Microseconds of `count` calls.
  double run(int64_t count) {
    const double start = now_us();
    for (int64_t i = 0; i < count; ++i) {
      Status status = call_(next_++);
      if (!status.ok()) status_ = std::move(status);
    }
    return now_us() - start;
  }
  const Status& status() const { return status_; }

 private:
  const std::function<Status(int64_t)>& call_;
  int64_t next_ = 0;
  Status status_;
};

}  // namespace

SamplePlan plan_samples(double call_us, const SampleOptions& options) {
  const double us = std::max(call_us, 1e-3);
  const auto calls = static_cast<int64_t>(std::ceil(std::max(1.0, options.batch_us / us)));
  const auto fits = static_cast<int64_t>(options.budget_us / (us * static_cast<double>(calls)));
  return {calls, std::clamp(fits, options.least, options.most)};
}

Result<Timing> time_calls(const std::function<Status(int64_t)>& call,
                          const SampleOptions& options) {
  Caller caller(call);
  const double start = now_us();
  double call_us = caller.run(1);  // pays for page faults and code: estimates only if it is alone
  for (int i = 1; i < kWarmUpCalls || now_us() - start < kWarmUpUs; ++i)
    call_us = std::min(call_us, caller.run(1));
  const SamplePlan plan = plan_samples(call_us, options);
  std::vector<double> samples, singles;
  const auto stopped = [&] { return options.stop && options.stop(); };
  for (int64_t i = 0; i < plan.samples && !stopped(); ++i)
    samples.push_back(caller.run(plan.calls) / static_cast<double>(plan.calls));
  for (int i = 0; i < kSingleCalls && !stopped(); ++i)
    singles.push_back(caller.run(1));
  if (!caller.status().ok()) return caller.status();
  return Timing{summarize(samples), percentile(singles, 0.5)};
}

}  // namespace convoy::bench
