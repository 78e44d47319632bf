// How a kernel's items become parallel tasks.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/int_math.h"

namespace convoy {

// Items for one task: some tasks for each thread to balance, each worth a microsecond or more.
inline int64_t items_per_task(int64_t items, double item_us, int threads) {
  constexpr int kTasksPerThread = 8;
  if (threads <= 1) return std::max<int64_t>(items, 1);
  const double worth = std::min(1.0 / std::max(item_us, 1e-9), 1e9);
  return std::max({ceil_div(items, int64_t{kTasksPerThread} * threads), static_cast<int64_t>(worth),
                   int64_t{1}});
}

// Calls with less work than this on one thread stay on the caller.
inline int worthwhile_threads(double one_thread_us, int threads) {
  constexpr double kForkUs = 2;
  return one_thread_us < kForkUs ? 1 : threads;
}

}  // namespace convoy
