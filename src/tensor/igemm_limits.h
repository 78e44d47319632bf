// What an implicit GEMM may use: 32-bit indices, and vectors of how many elements.
#pragma once

#include "base/portable.h"
#include "tensor/igemm_descriptors.h"

namespace convoy {

// Whether the largest offset, the sum of (extent - 1) * |stride|, stays below `limit`.
CONVOY_HD constexpr bool offsets_below(i64 limit, const i64 (&extent)[5], const i64 (&stride)[5]) {
  u64 room = static_cast<u64>(limit - 1);
  for (int i = 0; i < 5; ++i) {
    if (extent[i] <= 1) continue;
    const u64 steps = static_cast<u64>(extent[i] - 1);
    const u64 step =
        stride[i] < 0 ? u64{0} - static_cast<u64>(stride[i]) : static_cast<u64>(stride[i]);
    if (step > room / steps) return false;
    room -= step * steps;
  }
  return true;
}

// Whether i32 serves every index: GEMM coordinates up to `tile` past their extents, positions in
// the padded input, offsets. `limit` is 2^31, or less in tests of the 64-bit path.
CONVOY_HD constexpr bool fits_i32(const IgemmSizes& s, i64 tile, i64 limit = kMagicLimit) {
  if (limit > kMagicLimit) limit = kMagicLimit;
  const bool gemm_fits = s.gemm_m() < limit - tile && s.kpg() < limit - tile &&
                         s.gemm_k() < limit - tile && s.C < limit && s.K < limit;
  if (!gemm_fits) return false;
  for (int d = 0; d < 3; ++d) {
    const i64 reach = (s.out[d] - 1) * s.stride[d] + (s.filter[d] - 1) * s.dilation[d];
    if (reach >= limit || s.pad_lo[d] >= limit || s.in[d] >= limit) return false;
  }
  return offsets_below(limit, {s.N, s.C, s.in[0], s.in[1], s.in[2]}, s.x_stride) &&
         offsets_below(limit, {s.K, s.cpg(), s.filter[0], s.filter[1], s.filter[2]}, s.w_stride) &&
         offsets_below(limit, {s.N, s.K, s.out[0], s.out[1], s.out[2]}, s.y_stride);
}

// Elements per load of A and B along gemm_k and per store of D along gemm_n.
struct VectorWidths {
  int a, b, c;
};

// What the pointers are multiples of, in bytes.
struct Alignments {
  i64 x, w, y;
};

// The widest vector along axis 1, at most 16 bytes, whose every start is aligned: it divides the
// run of channels that belong together and every other stride, and axis 1 has no gaps.
CONVOY_HD constexpr int vector_width(i64 run, int dtype_bytes, i64 alignment,
                                     const i64 (&extent)[5], const i64 (&stride)[5]) {
  int width = 16 / dtype_bytes;
  const auto fits = [&](int v) {
    if (v == 1) return true;
    if (run % v != 0 || alignment % (i64{v} * dtype_bytes) != 0 || stride[1] != 1) return false;
    for (int i = 0; i < 5; ++i) {
      if (i != 1 && extent[i] > 1 && stride[i] % v != 0) return false;
    }
    return true;
  };
  while (!fits(width))
    width /= 2;
  return width;
}

// From cpg and kpg, never C and K: a vector must stay in one tap and one group. With merged groups
// A and D run over the channels of all of them, B keeps to one.
CONVOY_HD constexpr VectorWidths vector_widths(const IgemmSizes& s, int dtype_bytes,
                                               const Alignments& alignment, i64 merged = 1) {
  return {vector_width(merged * s.cpg(), dtype_bytes, alignment.x,
                       {s.N, s.C, s.in[0], s.in[1], s.in[2]}, s.x_stride),
          vector_width(s.cpg(), dtype_bytes, alignment.w,
                       {s.K, s.cpg(), s.filter[0], s.filter[1], s.filter[2]}, s.w_stride),
          vector_width(merged * s.kpg(), dtype_bytes, alignment.y,
                       {s.N, s.K, s.out[0], s.out[1], s.out[2]}, s.y_stride)};
}

}  // namespace convoy
