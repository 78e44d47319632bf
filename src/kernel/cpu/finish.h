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

inline bool is_far(Activation activation) {
  return activation != Activation::kNone && activation != Activation::kRelu &&
         activation != Activation::kRelu6;
}

// kFar says that is_far(activation) may hold. A loop that keeps values in vector registers sets it
// only where it does: no vector register survives a call, so all of them would live on the stack.
template <bool kFar = true>
inline Vec finish(Vec sum, float bias, Activation activation) {
  const Vec v = add(sum, set1(bias));
  if (activation == Activation::kNone) return v;
  if (activation == Activation::kRelu) return max(zero(), v);
  if constexpr (!kFar) return relu6(v);
  return activate_far(activation, v);
}

}  // namespace
}  // namespace convoy
