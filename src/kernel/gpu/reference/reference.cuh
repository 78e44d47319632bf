// The reference kernels: every pass, any strides, 64-bit offsets, f64 sums, a thread an element.
#pragma once

#include "kernel/gpu/device/exact.h"
#include "kernel/gpu/reference/reference_config.h"

namespace convoy {

template <Elem kElem>
CONVOY_DEVICE double wide(const void* tensor, i64 offset) {
  return static_cast<double>(
      Element<kElem>::widen(read_only(static_cast<const Storage<kElem>*>(tensor) + offset)));
}

// Five coordinates of a flat index, the last fastest.
struct Place5 {
  i64 at[5];
};
CONVOY_DEVICE Place5 place_of(i64 flat, const i64 (&extent)[5]) {
  Place5 place{};
  CONVOY_UNROLL
  for (int d = 4; d > 0; --d) {
    const i64 whole = flat / extent[d];
    place.at[d] = flat - whole * extent[d];
    flat = whole;
  }
  place.at[0] = flat;
  return place;
}
CONVOY_DEVICE i64 offset_of(const Place5& place, const i64 (&stride)[5]) {
  i64 offset = 0;
  CONVOY_UNROLL
  for (int d = 0; d < 5; ++d)
    offset += place.at[d] * stride[d];
  return offset;
}

// The output that reads input position `i` through tap `f` of axis d, or -1.
CONVOY_DEVICE i64 output_through(const IgemmSizes& s, int d, i64 i, i64 f) {
  const i64 reach = i + s.pad_lo[d] - f * s.dilation[d];
  if (reach < 0) return -1;
  const i64 o = reach / s.stride[d];
  return o * s.stride[d] == reach && o < s.out[d] ? o : -1;
}

template <Elem kElem>
CONVOY_DEVICE double input_gradient(const ReferenceArgs& args, const Place5& place) {
  const IgemmSizes& s = args.sizes;
  const i64 channel = place.at[1], group = channel / s.cpg();
  double sum = 0;
  CONVOY_NO_UNROLL
  for (i64 t = 0; t < s.filter[0]; ++t) {
    const i64 z = output_through(s, 0, place.at[2], t);
    if (z < 0) continue;
    CONVOY_NO_UNROLL
    for (i64 r = 0; r < s.filter[1]; ++r) {
      const i64 p = output_through(s, 1, place.at[3], r);
      if (p < 0) continue;
      CONVOY_NO_UNROLL
      for (i64 f = 0; f < s.filter[2]; ++f) {
        const i64 q = output_through(s, 2, place.at[4], f);
        if (q < 0) continue;
        CONVOY_NO_UNROLL
        for (i64 k = group * s.kpg(); k < (group + 1) * s.kpg(); ++k) {
          const double dy = wide<kElem>(args.y, offset_of({{place.at[0], k, z, p, q}}, s.y_stride));
          const double w =
              wide<kElem>(args.w, offset_of({{k, channel % s.cpg(), t, r, f}}, s.w_stride));
          sum = fused_multiply_add(dy, w, sum);
        }
      }
    }
  }
  return sum;
}

// The sum over batch and positions of dy, times x where `place` names a weight.
template <Elem kElem, bool kWeight>
CONVOY_DEVICE double output_sum(const ReferenceArgs& args, const Place5& place) {
  const IgemmSizes& s = args.sizes;
  const i64 k = place.at[0], channel = k / s.kpg() * s.cpg() + place.at[1];
  const auto position = [&](int d, i64 o) {
    return o * s.stride[d] - s.pad_lo[d] + place.at[2 + d] * s.dilation[d];
  };
  const auto skipped = [&](int d, i64 i) { return kWeight && (i < 0 || i >= s.in[d]); };
  double sum = 0;
  CONVOY_NO_UNROLL
  for (i64 n = 0; n < s.N; ++n) {
    CONVOY_NO_UNROLL
    for (i64 z = 0; z < s.out[0]; ++z) {
      const i64 d = position(0, z);
      if (skipped(0, d)) continue;
      CONVOY_NO_UNROLL
      for (i64 p = 0; p < s.out[1]; ++p) {
        const i64 h = position(1, p);
        if (skipped(1, h)) continue;
        CONVOY_NO_UNROLL
        for (i64 q = 0; q < s.out[2]; ++q) {
          const i64 w = position(2, q);
          if (skipped(2, w)) continue;
          const double dy = wide<kElem>(args.y, offset_of({{n, k, z, p, q}}, s.y_stride));
          if (kWeight) {
            const double x = wide<kElem>(args.x, offset_of({{n, channel, d, h, w}}, s.x_stride));
            sum = fused_multiply_add(dy, x, sum);
          } else {
            sum += dy;
          }
        }
      }
    }
  }
  return sum;
}

template <Elem kElem>
CONVOY_DEVICE void store_sum(void* tensor, i64 offset, double sum) {
  static_cast<Storage<kElem>*>(tensor)[offset] = Element<kElem>::round(static_cast<float>(sum));
}

template <ReferenceConfig kConfig>
CONVOY_DEVICE void reference_element(const ReferenceArgs& args, i64 i, i64 weights) {
  constexpr Elem kElem = kConfig.elem;
  const IgemmSizes& s = args.sizes;
  if constexpr (kConfig.pass == ReferencePass::kFprop) {
    const Place5 place = place_of(i, {s.N, s.K, s.out[0], s.out[1], s.out[2]});
    const auto& at = place.at;
    const double sum = exact_sum<kElem, double>(args, {at[0], at[1], at[2], at[3], at[4]}) +
                       static_cast<double>(bias_of<kElem, kConfig.epilogue.bias>(args, at[1]));
    store_sum<kElem>(args.out, offset_of(place, s.y_stride),
                     static_cast<double>(activate<kConfig.epilogue.act>(static_cast<float>(sum))));
  } else if constexpr (kConfig.pass == ReferencePass::kDgrad) {
    const Place5 place = place_of(i, {s.N, s.C, s.in[0], s.in[1], s.in[2]});
    store_sum<kElem>(args.out, offset_of(place, s.x_stride), input_gradient<kElem>(args, place));
  } else if (i < weights) {
    const Place5 place = place_of(i, {s.K, s.cpg(), s.filter[0], s.filter[1], s.filter[2]});
    if (args.out == nullptr) return;
    store_sum<kElem>(args.out, offset_of(place, s.w_stride), output_sum<kElem, true>(args, place));
  } else if (args.db != nullptr) {
    const i64 k = i - weights;
    const double sum = output_sum<kElem, false>(args, {{k, 0, 0, 0, 0}});
    constexpr bool kPlainF32 = kConfig.epilogue.bias == BiasKind::kF32;
    store_sum<kPlainF32 ? Elem::kF32 : kElem>(args.db, k * args.db_stride, sum);
  }
}

template <ReferenceConfig kConfig>
CONVOY_DEVICE void reference(const ReferenceArgs& args) {
  const IgemmSizes& s = args.sizes;
  const i64 weights = s.K * s.gemm_k();
  i64 total = s.N * s.K * s.out[0] * s.out[1] * s.out[2];
  if (kConfig.pass == ReferencePass::kDgrad) total = s.N * s.C * s.in[0] * s.in[1] * s.in[2];
  if (kConfig.pass == ReferencePass::kWgrad) total = weights + s.K;
  const i64 step = static_cast<i64>(kReferenceThreads) * block_count();
  CONVOY_NO_UNROLL
  for (i64 i = static_cast<i64>(block_index()) * kReferenceThreads + thread_index(); i < total;
       i += step) {
    reference_element<kConfig>(args, i, weights);
  }
}

}  // namespace convoy
