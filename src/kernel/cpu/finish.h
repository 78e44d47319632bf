// The end of every sum on vectors: bias, activation, one rounding into the output.
#pragma once

#include "kernel/cpu/epilogue_args.h"
#include "kernel/cpu/simd/epilogue.h"

namespace convoy {
namespace {

// Without a bias -0, the addend that changes no sum.
template <class T>
inline float bias_at(const Epilogue& e, int64_t k) {
  if (e.bias == nullptr) return -0.0F;
  if (e.bias_is_f32) return static_cast<const float*>(e.bias)[k * e.bias_stride];
  return widen(static_cast<const T*>(e.bias)[k * e.bias_stride]);
}

// Out of line: the tiles are many and the long activations rare.
[[gnu::noinline]] inline Vec activate_far(Activation activation, Vec v) {
  return activate(activation, v);
}

// None, relu and relu6 as one clamp: max and min give their second operand where it is NaN.
inline Vec finish(Vec sum, Vec bias, Activation activation) {
  const Vec v = add(sum, bias);
  if (activation > Activation::kRelu6) return activate_far(activation, v);
  const Vec low = set1(activation == Activation::kNone ? -HUGE_VALF : 0.0F);
  const Vec high = set1(activation == Activation::kRelu6 ? 6.0F : HUGE_VALF);
  return min(high, max(low, v));
}

}  // namespace
}  // namespace convoy
