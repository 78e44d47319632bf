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

// Rows of P for one task so that outer * ceil(P / rows) tasks keep every thread busy some times.
inline int64_t rows_per_task(int64_t P, int64_t outer, int threads) {
  constexpr int64_t kTasksPerThread = 4;
  if (threads <= 1) return P;
  const int64_t most = std::max<int64_t>(P, 1);
  return ceil_div(P, std::clamp<int64_t>(ceil_div(kTasksPerThread * threads, outer), 1, most));
}

// Calls with less work than this on one thread stay on the caller.
inline int worthwhile_threads(double one_thread_us, int threads) {
  constexpr double kForkUs = 2;
  return one_thread_us < kForkUs ? 1 : threads;
}

}  // namespace convoy
