// One output, tap by tap: what serves any problem and what repairs a tile that holds a NaN.
#pragma once

#include "kernel/gpu/device/epilogue.h"

namespace convoy {

// Taps of one axis that meet the input: first and one past the last, for window origin `at`.
template <class Index>
struct TapRange {
  Index begin, end;
};
template <class Index>
CONVOY_DEVICE TapRange<Index> taps_inside(Index at, Index filter, Index dilation, Index extent) {
  const Index begin = at >= 0 ? 0 : (-at + dilation - 1) / dilation;
  const Index room = extent - at;  // positions from `at` to the end
  Index end = room <= 0 ? 0 : (room + dilation - 1) / dilation;
  if (end > filter) end = filter;
  return {begin, end};
}

// i32 where fits_i32() says so: a third of the instructions.
template <class Index>
struct OutputPlace {
  Index n, k, z, p, q;
};
using OutputIndex = OutputPlace<i64>;

// The products of output `at` that no padding holds, summed in `Sum`. Any strides.
template <Elem kElem, class Sum = float, class Index = i64>
CONVOY_DEVICE Sum exact_sum(const ConvArgs& args, const OutputPlace<Index>& at) {
  using Stored = Storage<kElem>;
  const IgemmSizes& s = args.sizes;
  const auto index = [](i64 v) { return static_cast<Index>(v); };
  const Index cpg = index(s.C) / index(s.G);
  const Index group = at.k / (index(s.K) / index(s.G));
  const Index position[3] = {at.z, at.p, at.q};
  Index origin[3];
  TapRange<Index> taps[3];
  CONVOY_UNROLL
  for (int d = 0; d < 3; ++d) {
    origin[d] = position[d] * index(s.stride[d]) - index(s.pad_lo[d]);
    taps[d] =
        taps_inside<Index>(origin[d], index(s.filter[d]), index(s.dilation[d]), index(s.in[d]));
  }
  const Stored* x = static_cast<const Stored*>(args.x) + at.n * index(s.x_stride[0]) +
                    group * cpg * index(s.x_stride[1]);
  const Stored* w = static_cast<const Stored*>(args.w) + at.k * index(s.w_stride[0]);
  Sum sum = 0;
  CONVOY_NO_UNROLL
  for (Index t = taps[0].begin; t < taps[0].end; ++t) {
    CONVOY_NO_UNROLL
    for (Index r = taps[1].begin; r < taps[1].end; ++r) {
      CONVOY_NO_UNROLL
      for (Index q = taps[2].begin; q < taps[2].end; ++q) {
        const Stored* xt = x + (origin[0] + t * index(s.dilation[0])) * index(s.x_stride[2]) +
                           (origin[1] + r * index(s.dilation[1])) * index(s.x_stride[3]) +
                           (origin[2] + q * index(s.dilation[2])) * index(s.x_stride[4]);
        const Stored* wt =
            w + t * index(s.w_stride[2]) + r * index(s.w_stride[3]) + q * index(s.w_stride[4]);
        CONVOY_NO_UNROLL
        for (Index c = 0; c < cpg; ++c) {
          sum = fused_multiply_add(
              static_cast<Sum>(Element<kElem>::widen(read_only(xt + c * index(s.x_stride[1])))),
              static_cast<Sum>(Element<kElem>::widen(read_only(wt + c * index(s.w_stride[1])))),
              sum);
        }
      }
    }
  }
  return sum;
}

// Computes and stores one output, epilogue included.
template <Elem kElem, BiasKind kBias, Act kAct, class Index = i64>
CONVOY_DEVICE void store_exact(const ConvArgs& args, const OutputPlace<Index>& at) {
  const float sum = exact_sum<kElem, float, Index>(args, at) + bias_of<kElem, kBias>(args, at.k);
  const i64(&y)[5] = args.sizes.y_stride;
  const Index offset = at.n * static_cast<Index>(y[0]) + at.k * static_cast<Index>(y[1]) +
                       at.z * static_cast<Index>(y[2]) + at.p * static_cast<Index>(y[3]) +
                       at.q * static_cast<Index>(y[4]);
  static_cast<Storage<kElem>*>(args.y)[offset] = Element<kElem>::round(activate<kAct>(sum));
}

}  // namespace convoy
