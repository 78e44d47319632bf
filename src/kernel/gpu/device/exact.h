// One output, tap by tap: what serves any problem and what repairs a tile that holds a NaN.
#pragma once

#include "kernel/gpu/device/epilogue.h"

namespace convoy {

// Taps of one axis that meet the input: first and one past the last, for window origin `at`.
struct TapRange {
  i64 begin, end;
};
CONVOY_DEVICE TapRange taps_inside(i64 at, i64 filter, i64 dilation, i64 extent) {
  const i64 begin = at >= 0 ? 0 : (-at + dilation - 1) / dilation;
  const i64 room = extent - at;  // positions from `at` to the end
  i64 end = room <= 0 ? 0 : (room + dilation - 1) / dilation;
  if (end > filter) end = filter;
  return {begin, end};
}

struct OutputIndex {
  i64 n, k, z, p, q;
};

// The products of output `at` that no padding holds, summed in `Sum`. 64-bit offsets, any strides.
template <Elem kElem, class Sum = float>
CONVOY_DEVICE Sum exact_sum(const ConvArgs& args, const OutputIndex& at) {
  using Stored = Storage<kElem>;
  const IgemmSizes& s = args.sizes;
  const i64 group = at.k / s.kpg();
  const i64 position[3] = {at.z, at.p, at.q};
  i64 origin[3];
  TapRange taps[3];
  CONVOY_UNROLL
  for (int d = 0; d < 3; ++d) {
    origin[d] = position[d] * s.stride[d] - s.pad_lo[d];
    taps[d] = taps_inside(origin[d], s.filter[d], s.dilation[d], s.in[d]);
  }
  const Stored* x =
      static_cast<const Stored*>(args.x) + at.n * s.x_stride[0] + group * s.cpg() * s.x_stride[1];
  const Stored* w = static_cast<const Stored*>(args.w) + at.k * s.w_stride[0];
  Sum sum = 0;
  CONVOY_NO_UNROLL
  for (i64 t = taps[0].begin; t < taps[0].end; ++t) {
    CONVOY_NO_UNROLL
    for (i64 r = taps[1].begin; r < taps[1].end; ++r) {
      CONVOY_NO_UNROLL
      for (i64 q = taps[2].begin; q < taps[2].end; ++q) {
        const Stored* xt = x + (origin[0] + t * s.dilation[0]) * s.x_stride[2] +
                           (origin[1] + r * s.dilation[1]) * s.x_stride[3] +
                           (origin[2] + q * s.dilation[2]) * s.x_stride[4];
        const Stored* wt = w + t * s.w_stride[2] + r * s.w_stride[3] + q * s.w_stride[4];
        CONVOY_NO_UNROLL
        for (i64 c = 0; c < s.cpg(); ++c) {
          sum = fused_multiply_add(
              static_cast<Sum>(Element<kElem>::widen(read_only(xt + c * s.x_stride[1]))),
              static_cast<Sum>(Element<kElem>::widen(read_only(wt + c * s.w_stride[1]))), sum);
        }
      }
    }
  }
  return sum;
}

// Computes and stores one output, epilogue included.
template <Elem kElem, BiasKind kBias, Act kAct>
CONVOY_DEVICE void store_exact(const ConvArgs& args, const OutputIndex& at) {
  const float sum = exact_sum<kElem>(args, at) + bias_of<kElem, kBias>(args, at.k);
  const i64(&y)[5] = args.sizes.y_stride;
  static_cast<Storage<kElem>*>(
      args.y)[at.n * y[0] + at.k * y[1] + at.z * y[2] + at.p * y[3] + at.q * y[4]] =
      Element<kElem>::round(activate<kAct>(sum));
}

}  // namespace convoy
