// Which instruction tier serves a device, and what its lanes cost.
#pragma once

#include <convoy/device.h>

namespace convoy {

enum class Tier { kBaseline, kAvx2, kAvx512 };

Tier tier_of(const DeviceInfo& device);
int lanes_of(Tier tier);
const char* name(Tier tier);

// The entry point of each tier of a family; a build for another architecture has the baseline only.
template <class F>
struct Tiers {
  F* baseline;
  F* avx2;
  F* avx512;
  F* of(Tier tier) const {
    return tier == Tier::kAvx512 ? avx512 : tier == Tier::kAvx2 ? avx2 : baseline;
  }
};

// Threads worth waking for `estimate_us` of work on one thread: below 2 us the caller works alone.
int worthwhile_threads(const DeviceInfo& device, double estimate_us);

// Rows of P per task so that outer * ceil(P / rows) tasks keep every thread busy about four times.
int64_t rows_per_task(int64_t P, int64_t outer, int threads);

// f32 multiply-adds per second of one thread in GFLOP/s, and the microseconds for `bytes` at the
// copy rate of the device: the two terms of every cost estimate.
double thread_gflops(const DeviceInfo& device);
double copy_us(int64_t bytes, const DeviceInfo& device);

}  // namespace convoy
