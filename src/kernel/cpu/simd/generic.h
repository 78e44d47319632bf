// Four f32 lanes in the vector extension of GCC and Clang: the baseline tier of every architecture.
#pragma once

#include "kernel/cpu/simd/scalar.h"

namespace convoy {
namespace {

inline constexpr int kLanes = 4;
using Vec = float __attribute__((vector_size(16)));
using Index = int32_t __attribute__((vector_size(16)));

inline Vec zero() {
  return Vec{0, 0, 0, 0};
}
inline Vec set1(float v) {
  return Vec{v, v, v, v};
}
inline Vec add(Vec a, Vec b) {
  return a + b;
}
inline Vec sub(Vec a, Vec b) {
  return a - b;
}
inline Vec mul(Vec a, Vec b) {
  return a * b;
}
inline Vec div(Vec a, Vec b) {
  return a / b;
}
inline Index lane_mask(Mask m) {
  const Index bit = {1, 2, 4, 8};
  const auto b = static_cast<int32_t>(m);
  return (Index{b, b, b, b} & bit) == bit;
}
inline Vec select(Index m, Vec yes, Vec no) {
  return m != 0 ? yes : no;
}
inline Vec select(Mask m, Vec yes, Vec no) {
  return select(lane_mask(m), yes, no);
}
// a*b + c in two roundings: this tier has no fused form. The masked form keeps c where the mask is
// clear, so that a skipped tap adds no 0 * Inf.
inline Vec fma(Vec a, Vec b, Vec c) {
  return a * b + c;
}
inline Vec fma(Mask m, Vec a, Vec b, Vec c) {
  return select(m, a * b + c, c);
}
// The second operand where either is NaN.
inline Vec max(Vec a, Vec b) {
  return select(a > b, a, b);
}
inline Vec min(Vec a, Vec b) {
  return select(a < b, a, b);
}
inline Mask to_mask(Index lanes) {
  Mask m = 0;
  for (int i = 0; i < kLanes; ++i)
    m |= lanes[i] != 0 ? 1U << i : 0U;
  return m;
}
inline Mask less(Vec a, Vec b) {
  return to_mask(a < b);
}
inline Mask equal(Vec a, Vec b) {
  return to_mask(a == b);
}
// To the nearest integer, for |v| below 2^22.
inline Vec round(Vec v) {
  const Vec shift = set1(0x1.8p23F);
  return (v + shift) - shift;
}
// 2^n for integral n in [-126, 127].
inline Vec exp2_integral(Vec n) {
  Vec out = zero();
  for (int i = 0; i < kLanes; ++i) {
    out[i] = bits_to_f32(static_cast<uint32_t>(static_cast<int32_t>(n[i]) + 127) << 23);
  }
  return out;
}

inline Index load_index(const int32_t* p) {
  return Index{p[0], p[1], p[2], p[3]};
}
inline Vec permute(Vec v, Index i) {
  return Vec{v[i[0]], v[i[1]], v[i[2]], v[i[3]]};
}
// Lanes 0, 2, 4, ... of the 8 lanes in (low, high).
inline Vec even_lanes(Vec low, Vec high) {
  return Vec{low[0], low[2], high[0], high[2]};
}

template <class T>
inline Vec load(const T* p) {
  return Vec{widen(p[0]), widen(p[1]), widen(p[2]), widen(p[3])};
}
// Masked lanes are not read; they give 0.
template <class T>
inline Vec load(Mask m, const T* p) {
  Vec v = zero();
  for (int i = 0; i < kLanes; ++i) {
    if ((m >> i & 1U) != 0) v[i] = widen(p[i]);
  }
  return v;
}
template <class T>
inline void store(T* p, Vec v) {
  for (int i = 0; i < kLanes; ++i)
    narrow(v[i], p + i);
}
template <class T>
inline void store(Mask m, T* p, Vec v) {
  for (int i = 0; i < kLanes; ++i) {
    if ((m >> i & 1U) != 0) narrow(v[i], p + i);
  }
}

}  // namespace
}  // namespace convoy
