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
  return activation > Activation::kRelu6;
}

// None, relu and relu6 as one clamp, made once before a loop: within, its constants took as long as
// half of the multiply-adds of a 3x3 filter.
struct Clamp {
  Vec low, high;
};
inline Clamp clamp_of(Activation activation) {
  return {set1(activation == Activation::kNone ? -HUGE_VALF : 0.0F),
          set1(activation == Activation::kRelu6 ? 6.0F : HUGE_VALF)};
}
// max and min give their second operand where it is NaN.
inline Vec finish(Vec sum, Vec bias, const Clamp& clamp) {
  return min(clamp.high, max(clamp.low, add(sum, bias)));
}

// As finish() with a clamp for what is no far activation.
// kFar says that is_far(activation) may hold. A loop that keeps values in vector registers sets it
// only where it does: no vector register survives a call, so all of them would live on the stack.
template <bool kFar = true>
inline Vec finish(Vec sum, Vec bias, Activation activation) {
  if constexpr (kFar) {
    if (is_far(activation)) return activate_far(activation, add(sum, bias));
  }
  return finish(sum, bias, clamp_of(activation));
}

[[gnu::noinline]] inline void finish_stored(float* sums, int vectors, Vec bias,
                                            Activation activation) {
  for (int i = 0; i < vectors; ++i)
    store(sums + i * kLanes, finish(load(sums + i * kLanes), bias, activation));
}

// The sums of a tile, one bias for all. The call for the far activations finds them in memory.
template <int kCount>
inline void finish_all(Vec (&sums)[kCount], Vec bias, Activation activation) {
  if (is_far(activation)) {
    float stored[kCount * kLanes];
#pragma GCC unroll 16
    for (int i = 0; i < kCount; ++i)
      store(stored + i * kLanes, sums[i]);
    finish_stored(stored, kCount, bias, activation);
#pragma GCC unroll 16
    for (int i = 0; i < kCount; ++i)
      sums[i] = load(stored + i * kLanes);
    return;
  }
  const bool none = activation == Activation::kNone;  // spares two instructions on the FMA ports
#pragma GCC unroll 16
  for (int i = 0; i < kCount; ++i)
    sums[i] = none ? add(sums[i], bias) : finish<false>(sums[i], bias, activation);
}

}  // namespace
}  // namespace convoy
