// Sixteen f32 lanes in AVX-512 F, BW, DQ, VL.
#pragma once

#include "kernel/cpu/simd/scalar.h"

namespace convoy {
namespace {

inline constexpr int kLanes = 16;
using Vec = __m512;
using Index = __m512i;

inline Vec zero() {
  return _mm512_setzero_ps();
}
inline Vec set1(float v) {
  return _mm512_set1_ps(v);
}
inline Vec add(Vec a, Vec b) {
  return _mm512_add_ps(a, b);
}
inline Vec sub(Vec a, Vec b) {
  return _mm512_sub_ps(a, b);
}
inline Vec mul(Vec a, Vec b) {
  return _mm512_mul_ps(a, b);
}
inline Vec div(Vec a, Vec b) {
  return _mm512_div_ps(a, b);
}
// a*b + c; the masked form keeps c where the mask is clear, so that a skipped tap adds no 0 * Inf.
inline Vec fma(Vec a, Vec b, Vec c) {
  return _mm512_fmadd_ps(a, b, c);
}
inline Vec fma(Mask m, Vec a, Vec b, Vec c) {
  return _mm512_mask3_fmadd_ps(a, b, c, static_cast<__mmask16>(m));
}
// The second operand where either is NaN.
inline Vec max(Vec a, Vec b) {
  return _mm512_max_ps(a, b);
}
inline Vec min(Vec a, Vec b) {
  return _mm512_min_ps(a, b);
}
inline Mask less(Vec a, Vec b) {
  return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ);
}
inline Mask equal(Vec a, Vec b) {
  return _mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ);
}
inline Vec select(Mask m, Vec yes, Vec no) {
  return _mm512_mask_blend_ps(static_cast<__mmask16>(m), no, yes);
}
inline Vec round(Vec v) {
  return _mm512_roundscale_ps(v, _MM_FROUND_TO_NEAREST_INT);
}
// 2^n for integral n in [-126, 127].
inline Vec exp2_integral(Vec n) {
  const __m512i biased = _mm512_add_epi32(_mm512_cvtps_epi32(n), _mm512_set1_epi32(127));
  return _mm512_castsi512_ps(_mm512_slli_epi32(biased, 23));
}

inline Index load_index(const int32_t* p) {
  return _mm512_loadu_si512(p);
}
inline Vec permute(Vec v, Index i) {
  return _mm512_permutexvar_ps(i, v);
}
// Lanes 0, 2, 4, ... of the 32 lanes in (low, high).
inline Vec even_lanes(Vec low, Vec high) {
  const __m512i i = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
  return _mm512_permutex2var_ps(low, i, high);
}

inline Vec load(const float* p) {
  return _mm512_loadu_ps(p);
}
inline Vec load(const F16* p) {
  return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
}
inline Vec widen_bf16(__m256i v) {
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(v), 16));
}
inline Vec load(const Bf16* p) {
  return widen_bf16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
}
// Masked lanes are neither read nor trapped on; they give 0.
inline Vec load(Mask m, const float* p) {
  return _mm512_maskz_loadu_ps(static_cast<__mmask16>(m), p);
}
inline Vec load(Mask m, const F16* p) {
  return _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(static_cast<__mmask16>(m), p));
}
inline Vec load(Mask m, const Bf16* p) {
  return widen_bf16(_mm256_maskz_loadu_epi16(static_cast<__mmask16>(m), p));
}

inline __m256i narrow_f16(Vec v) {
  return _mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT);
}
// Integer rounding: vcvtneps2bf16 would flush subnormals.
inline __m256i narrow_bf16(Vec v) {
  const __m512i bits = _mm512_castps_si512(v);
  const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
  __m512i rounded = _mm512_add_epi32(bits, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff)));
  const __mmask16 nan = _mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q);
  rounded = _mm512_mask_or_epi32(rounded, nan, bits, _mm512_set1_epi32(0x400000));
  return _mm512_cvtepi32_epi16(_mm512_srli_epi32(rounded, 16));
}
inline void store(float* p, Vec v) {
  _mm512_storeu_ps(p, v);
}
inline void store(F16* p, Vec v) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), narrow_f16(v));
}
inline void store(Bf16* p, Vec v) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), narrow_bf16(v));
}
inline void store(Mask m, float* p, Vec v) {
  _mm512_mask_storeu_ps(p, static_cast<__mmask16>(m), v);
}
inline void store(Mask m, F16* p, Vec v) {
  _mm256_mask_storeu_epi16(p, static_cast<__mmask16>(m), narrow_f16(v));
}
inline void store(Mask m, Bf16* p, Vec v) {
  _mm256_mask_storeu_epi16(p, static_cast<__mmask16>(m), narrow_bf16(v));
}

}  // namespace
}  // namespace convoy
