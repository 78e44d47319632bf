// What happens to a finished f32 sum before its one rounding: bias, then activation.
#pragma once

#include "kernel/gpu/device/conv_args.h"
#include "kernel/gpu/device/element.h"

namespace convoy {

// The bias of output channel k, zero without one.
template <Elem kElem, BiasKind kBias>
CONVOY_DEVICE float bias_of(const ConvArgs& args, i64 k) {
  if constexpr (kBias == BiasKind::kNone) {
    return 0.0F;
  } else if constexpr (kBias == BiasKind::kF32) {
    return read_only(static_cast<const float*>(args.bias) + k * args.bias_stride);
  } else {
    using Stored = Storage<kElem>;
    return Element<kElem>::widen(
        read_only(static_cast<const Stored*>(args.bias) + k * args.bias_stride));
  }
}

// relu6(NaN) and relu(NaN) are NaN: a comparison that NaN fails keeps v.
CONVOY_DEVICE float relu(float v) {
  return v < 0.0F ? 0.0F : v;
}
CONVOY_DEVICE float relu6(float v) {
  v = relu(v);
  return v > 6.0F ? 6.0F : v;
}

template <Act kAct>
CONVOY_DEVICE float activate(float v) {
  if constexpr (kAct == Act::kRelu) return relu(v);
  if constexpr (kAct == Act::kRelu6) return relu6(v);
  if constexpr (kAct == Act::kSilu) return v / (1.0F + exponential(-v));
  if constexpr (kAct == Act::kGelu) {
    // 1 + erf(a) is erfc(-a), which keeps its digits where the sum would cancel.
    return v * 0.5F * complementary_error_function(v * -0.70710678118654752F);
  }
  if constexpr (kAct == Act::kHardswish) return v * relu6(v + 3.0F) * (1.0F / 6.0F);
  return v;
}

}  // namespace convoy
