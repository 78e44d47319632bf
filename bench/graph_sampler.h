// Times a call as nodes of a graph that is replayed on a device.
#pragma once

#include <functional>

#include "bench/stats.h"
#include "launch/timer.h"

namespace convoy::bench {

struct GraphOptions {
  double budget_us = 50e3;  // of all replays together
  int64_t least = 9, most = 101;
  std::function<Status(Stream)> before;  // queued ahead of each replay, outside its time
  std::function<bool()> stop;            // asked between replays; true ends with what there is
};

// How many calls one graph holds: at least 20, enough to last longer than the device's clock is
// coarse, fewer where single calls take milliseconds.
int64_t calls_of(double call_us);

// One graph of call(stream, i) for i in [0, calls), replayed: per call. The call has run before.
Result<Summary> time_graph(GraphTimer& timer, int64_t calls,
                           const std::function<Status(Stream, int64_t)>& call,
                           const GraphOptions& options);

}  // namespace convoy::bench
