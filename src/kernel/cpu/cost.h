// The terms that the cost estimates of all CPU families share.
#pragma once

#include <convoy/device.h>

#include <algorithm>

namespace convoy {

// f32 multiply-adds of one thread, two flops each.
inline double thread_gflops(const DeviceInfo& device) {
  return device.ceilings.fma_gflops / std::max(1, device.threads);
}

inline double copy_us(int64_t bytes, const DeviceInfo& device) {
  return static_cast<double>(bytes) / (device.ceilings.copy_gbs(bytes) * 1e3);
}

// `alone_us` of arithmetic on one thread, spread over the threads, against the copy: they overlap
// for the most part, and the shorter still tells kernels at the same limit apart.
inline double spread_us(double alone_us, int threads, int64_t bytes, const DeviceInfo& device) {
  constexpr double kCallUs = 0.1, kOverlapLoss = 0.2;
  const double arithmetic = alone_us / threads, copy = copy_us(bytes, device);
  return std::max(arithmetic, copy) + kOverlapLoss * std::min(arithmetic, copy) +
         (threads > 1 ? device.ceilings.fork_join_us : kCallUs);
}

}  // namespace convoy
