// Which taps and outputs of one axis meet inside the input. In an anonymous namespace for the tier
// files, see simd/simd.h.
#pragma once

#include <cstdint>

namespace convoy {
namespace {

struct Range {
  int64_t lo, hi;  // [lo, hi), empty where hi <= lo
};

// The i in [0, count) with 0 <= first + i * step < extent; step > 0.
inline Range inside_range(int64_t first, int64_t step, int64_t extent, int64_t count) {
  const int64_t lo = first >= 0 ? 0 : step == 1 ? -first : (step - 1 - first) / step;
  int64_t hi = 0;
  if (first < extent) hi = step == 1 ? extent - first : (extent - 1 - first) / step + 1;
  return {lo, hi < count ? hi : count};
}

}  // namespace
}  // namespace convoy
