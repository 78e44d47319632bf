// Eight f32 lanes in AVX2 with FMA and F16C.
#pragma once

#include "kernel/cpu/simd/scalar.h"

namespace convoy {
namespace {

inline constexpr int kLanes = 8;
using Vec = __m256;
using Index = __m256i;

inline Vec zero() {
  return _mm256_setzero_ps();
}
inline Vec set1(float v) {
  return _mm256_set1_ps(v);
}
inline Vec add(Vec a, Vec b) {
  return _mm256_add_ps(a, b);
}
inline Vec sub(Vec a, Vec b) {
  return _mm256_sub_ps(a, b);
}
inline Vec mul(Vec a, Vec b) {
  return _mm256_mul_ps(a, b);
}
inline Vec div(Vec a, Vec b) {
  return _mm256_div_ps(a, b);
}
inline __m256i lane_mask(Mask m) {
  const __m256i bit = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
  return _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32(static_cast<int>(m)), bit), bit);
}
inline Vec select(Mask m, Vec yes, Vec no) {
  return _mm256_blendv_ps(no, yes, _mm256_castsi256_ps(lane_mask(m)));
}
// a*b + c; the masked form keeps c where the mask is clear, so that a skipped tap adds no 0 * Inf.
inline Vec fma(Vec a, Vec b, Vec c) {
  return _mm256_fmadd_ps(a, b, c);
}
inline Vec fma(Mask m, Vec a, Vec b, Vec c) {
  return select(m, _mm256_fmadd_ps(a, b, c), c);
}
// The second operand where either is NaN.
inline Vec max(Vec a, Vec b) {
  return _mm256_max_ps(a, b);
}
inline Vec min(Vec a, Vec b) {
  return _mm256_min_ps(a, b);
}
inline Mask less(Vec a, Vec b) {
  return static_cast<Mask>(_mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_LT_OQ)));
}
inline Mask equal(Vec a, Vec b) {
  return static_cast<Mask>(_mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_EQ_OQ)));
}
inline Vec round(Vec v) {
  return _mm256_round_ps(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
// 2^n for integral n in [-126, 127].
inline Vec exp2_integral(Vec n) {
  const __m256i biased = _mm256_add_epi32(_mm256_cvtps_epi32(n), _mm256_set1_epi32(127));
  return _mm256_castsi256_ps(_mm256_slli_epi32(biased, 23));
}

inline Index load_index(const int32_t* p) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
}
inline Vec permute(Vec v, Index i) {
  return _mm256_permutevar8x32_ps(v, i);
}
// Lanes 0, 2, 4, ... of the 16 lanes in (low, high).
inline Vec even_lanes(Vec low, Vec high) {
  const __m256 pairs = _mm256_shuffle_ps(low, high, 0x88);  // 0 2 8 10 | 4 6 12 14
  return _mm256_castpd_ps(_mm256_permute4x64_pd(_mm256_castps_pd(pairs), 0xd8));
}

inline Vec load(const float* p) {
  return _mm256_loadu_ps(p);
}
inline Vec load(const F16* p) {
  return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
}
inline Vec load(const Bf16* p) {
  const __m128i v = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(v), 16));
}
// Masked lanes are neither read nor trapped on; they give 0.
inline Vec load(Mask m, const float* p) {
  return _mm256_maskload_ps(p, lane_mask(m));
}
template <class T>
inline Vec load(Mask m, const T* p) {
  T lanes[kLanes] = {};
  for (int i = 0; i < kLanes; ++i) {
    if ((m >> i & 1U) != 0) lanes[i] = p[i];
  }
  return load(lanes);
}

inline void store(float* p, Vec v) {
  _mm256_storeu_ps(p, v);
}
inline void store(F16* p, Vec v) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT));
}
inline void store(Bf16* p, Vec v) {
  const __m256i bits = _mm256_castps_si256(v);
  const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
  __m256i rounded = _mm256_add_epi32(bits, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff)));
  const __m256i nan = _mm256_castps_si256(_mm256_cmp_ps(v, v, _CMP_UNORD_Q));
  rounded = _mm256_blendv_epi8(rounded, _mm256_or_si256(bits, _mm256_set1_epi32(0x400000)), nan);
  const __m256i words = _mm256_srli_epi32(rounded, 16);
  const __m256i packed = _mm256_permute4x64_epi64(_mm256_packus_epi32(words, words), 0xd8);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm256_castsi256_si128(packed));
}
inline void store(Mask m, float* p, Vec v) {
  _mm256_maskstore_ps(p, lane_mask(m), v);
}
template <class T>
inline void store(Mask m, T* p, Vec v) {
  T lanes[kLanes];
  store(lanes, v);
  for (int i = 0; i < kLanes; ++i) {
    if ((m >> i & 1U) != 0) p[i] = lanes[i];
  }
}

}  // namespace
}  // namespace convoy
