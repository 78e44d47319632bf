// Activations on f32 vectors, within 4 ulp; NaN stays NaN.
#pragma once

#include <convoy/problem.h>

#include <cmath>

#include "kernel/cpu/simd/simd.h"

namespace convoy {
namespace {

// e^-|v| = m * 2^n with m in [0.7, 1.42], n integral and not above 0. Cody-Waite reduction by ln 2
// in two parts, then the Taylor series to r^7, whose first lost term is below 2^-25 for |r| < 0.35.
struct Exponential {
  Vec m, n;
};
inline Exponential exp_minus_abs(Vec v) {
  const Vec minus_abs = min(v, sub(zero(), v));
  const Vec x = max(minus_abs, set1(-170.0F));  // below, e^-|v| times v is 0 in any case
  const Vec n = round(mul(x, set1(0x1.715476p0F)));
  Vec r = fma(n, set1(-0x1.62ep-1F), x);
  r = fma(n, set1(-0x1.0bfbe8p-15F), r);
  Vec m = set1(1.0F / 5040);
  for (const float c : {1.0F / 720, 1.0F / 120, 1.0F / 24, 1.0F / 6, 0.5F, 1.0F, 1.0F}) {
    m = fma(m, r, set1(c));
  }
  return {m, n};
}

// v * 2^n in two steps, so that only the last one may round into the subnormals.
inline Vec scale(Vec v, Vec n) {
  const Vec half = round(mul(n, set1(0.5F)));
  return mul(mul(v, exp2_integral(half)), exp2_integral(sub(n, half)));
}

// v/(1+e^-v) from e^-|v|: for v < 0 it is v*e^v/(1+e^v), scaled last. -Inf gives NaN as the formula
// does.
inline Vec silu(Vec v) {
  const Exponential e = exp_minus_abs(v);
  const Vec below = max(e.n, set1(-100.0F));
  const Vec divisor = add(set1(1.0F), mul(e.m, exp2_integral(below)));
  const Vec negative = scale(div(mul(max(v, set1(-200.0F)), e.m), divisor), e.n);
  const Vec out = select(less(v, zero()), negative, div(v, divisor));
  return select(equal(v, set1(-HUGE_VALF)), set1(NAN), out);
}

// Through erfc of libm in f64: 1 + erf would cancel for negative v.
inline Vec gelu(Vec v) {
  float lanes[kLanes];
  store(lanes, v);
  for (float& lane : lanes) {
    const double d = lane;
    lane = static_cast<float>(d / 2 * ::erfc(-d / 1.41421356237309504880));
  }
  return load(lanes);
}

inline Vec relu6(Vec v) {
  return min(set1(6.0F), max(zero(), v));
}

inline Vec activate(Activation activation, Vec v) {
  switch (activation) {
    case Activation::kNone:
      return v;
    case Activation::kRelu:
      return max(zero(), v);
    case Activation::kRelu6:
      return relu6(v);
    case Activation::kSilu:
      return silu(v);
    case Activation::kGelu:
      return gelu(v);
    case Activation::kHardswish:
      return mul(v, div(relu6(add(v, set1(3.0F))), set1(6.0F)));
  }
  return v;
}

}  // namespace
}  // namespace convoy
