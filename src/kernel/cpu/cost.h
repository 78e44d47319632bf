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

// `alone_us` of arithmetic on one thread, spread over the threads but never below the copy.
inline double spread_us(double alone_us, int threads, int64_t bytes, const DeviceInfo& device) {
  constexpr double kCallUs = 0.1;
  return std::max(alone_us / threads, copy_us(bytes, device)) +
         (threads > 1 ? device.ceilings.fork_join_us : kCallUs);
}

}  // namespace convoy
