// Tiers, task sizes and the cost terms that all CPU families share.
#include "kernel/cpu/tier.h"

#include <algorithm>

#include "base/int_math.h"

namespace convoy {

Tier tier_of(const DeviceInfo& device) {
  if (device.isa == Isa::kAvx512 || device.isa == Isa::kAvx512Bf16) return Tier::kAvx512;
  return device.isa == Isa::kAvx2 ? Tier::kAvx2 : Tier::kBaseline;
}

int lanes_of(Tier tier) {
  return tier == Tier::kAvx512 ? 16 : tier == Tier::kAvx2 ? 8 : 4;
}

const char* name(Tier tier) {
  return tier == Tier::kAvx512 ? "avx512" : tier == Tier::kAvx2 ? "avx2" : "baseline";
}

int worthwhile_threads(const DeviceInfo& device, double estimate_us) {
  return estimate_us < 2 ? 1 : device.threads;
}

int64_t rows_per_task(int64_t P, int64_t outer, int threads) {
  if (threads <= 1) return P;
  const int64_t bands = std::clamp<int64_t>(ceil_div(4 * threads, outer), 1, P);
  return ceil_div(P, bands);
}

double thread_gflops(const DeviceInfo& device) {
  return device.ceilings.fma_gflops / std::max(1, device.threads);
}

double copy_us(int64_t bytes, const DeviceInfo& device) {
  return static_cast<double>(bytes) / (device.ceilings.copy_gbs(bytes) * 1e3);
}

}  // namespace convoy
