// Times a call as nodes of a graph that is replayed on a device.
#include "bench/graph_sampler.h"

#include <algorithm>
#include <cmath>

namespace convoy::bench {
namespace {

constexpr int64_t kLeastCalls = 20;
constexpr double kReplayUs = 400;       // the clock of events ticks every 0.5 us
constexpr double kLongReplayUs = 20e3;  // past it a node's own cost does not show
constexpr int kWarmUps = 2;

}  // namespace

int64_t calls_of(double call_us) {
  const double us = std::max(call_us, 0.5);
  const auto enough = static_cast<int64_t>(std::ceil(kReplayUs / us));
  const auto fits = std::max<int64_t>(2, static_cast<int64_t>(kLongReplayUs / us));
  return std::min(std::max(kLeastCalls, enough), fits);
}

Result<Summary> time_graph(GraphTimer& timer, int64_t calls,
                           const std::function<Status(Stream, int64_t)>& call,
                           const GraphOptions& options) {
  if (Status s = timer.capture(calls, call); !s.ok()) return s;
  std::vector<double> samples;
  int64_t wanted = kWarmUps + options.least;
  for (int64_t i = 0; i < wanted; ++i) {
    if (i > kWarmUps && options.stop && options.stop()) break;
    if (options.before) {
      if (Status s = options.before(timer.stream()); !s.ok()) return s;
    }
    const Result<double> us = timer.replay_us();
    if (!us) return us.status();
    if (i == kWarmUps - 1) {
      const auto fits = static_cast<int64_t>(options.budget_us / std::max(*us, 1.0));
      wanted = kWarmUps + std::clamp(fits, options.least, options.most);
    }
    if (i >= kWarmUps) samples.push_back(*us / static_cast<double>(calls));
  }
  return summarize(samples);
}

}  // namespace convoy::bench
