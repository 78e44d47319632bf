// Picks the widest copy of a kernel that a device may run.
#pragma once

#include <convoy/device.h>

namespace convoy {

// The copy of a function that a tier runs; the two wide ones are built on x86-64 only.
#if defined(__x86_64__)
#define CONVOY_PICK_TIER(isa, function) \
  ::convoy::pick_tier(isa, function##_baseline, function##_avx2, function##_avx512)
#else
#define CONVOY_PICK_TIER(isa, function) function##_baseline
#endif

template <class Value>
Value pick_tier(Isa isa, Value baseline, [[maybe_unused]] Value avx2,
                [[maybe_unused]] Value avx512) {
#if defined(__x86_64__)
  if (isa == Isa::kAvx512 || isa == Isa::kAvx512Bf16) return avx512;
  if (isa == Isa::kAvx2) return avx2;
#endif
  (void)isa;
  return baseline;
}

// f32 lanes of the vectors in the copy that pick_tier() picks.
inline int tier_lanes(Isa isa) {
  return pick_tier(isa, 4, 8, 16);
}
inline const char* tier_name(Isa isa) {
  return pick_tier(isa, "baseline", "avx2", "avx512");
}

}  // namespace convoy
