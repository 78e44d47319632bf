// The 16-bit floats as kernels store them, their scalar conversions, and lane masks.
#pragma once

#include <cstdint>
#include <cstring>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace convoy {
namespace {

// Storage of the 16-bit floats in kernels; conversions are the loads and stores below.
struct F16 {
  uint16_t bits;
};
struct Bf16 {
  uint16_t bits;
};

// Bit i set: lane i takes part.
using Mask = uint32_t;
inline Mask first_lanes(int64_t n) {
  return n >= 32 ? ~0U : n <= 0 ? 0U : (1U << n) - 1U;
}

inline float bits_to_f32(uint32_t bits) {
  float v;
  std::memcpy(&v, &bits, sizeof v);
  return v;
}
inline uint32_t f32_to_bits(float v) {
  uint32_t bits;
  std::memcpy(&bits, &v, sizeof bits);
  return bits;
}

inline float widen(float v) {
  return v;
}
inline float widen(Bf16 v) {
  return bits_to_f32(static_cast<uint32_t>(v.bits) << 16);
}
inline float widen(F16 v) {
#if defined(__F16C__)
  return _cvtsh_ss(v.bits);
#else
  const uint32_t sign = static_cast<uint32_t>(v.bits & 0x8000U) << 16;
  const uint32_t magnitude = v.bits & 0x7fffU;
  // 2^112 moves the exponent bias from 15 to 127; subnormals come out right, Inf and NaN do not.
  if (magnitude >= 0x7c00U) return bits_to_f32(sign | 0x7f800000U | (magnitude & 0x3ffU) << 13);
  return bits_to_f32(sign | f32_to_bits(bits_to_f32(magnitude << 13) * 0x1p112F));
#endif
}

inline void narrow(float v, float* to) {
  *to = v;
}
inline void narrow(float v, Bf16* to) {
  const uint32_t bits = f32_to_bits(v);
  const bool nan = (bits & 0x7fffffffU) > 0x7f800000U;
  const uint32_t rounded = bits + 0x7fffU + (bits >> 16 & 1U);
  to->bits = static_cast<uint16_t>(nan ? bits >> 16 | 0x40U : rounded >> 16);
}
inline void narrow(float v, F16* to) {
#if defined(__F16C__)
  to->bits = _cvtss_sh(v, _MM_FROUND_TO_NEAREST_INT);
#else
  const uint32_t bits = f32_to_bits(v);
  const auto sign = static_cast<uint16_t>(bits >> 16 & 0x8000U);
  const uint32_t magnitude = bits & 0x7fffffffU;
  uint32_t half = 0;
  if (magnitude > 0x7f800000U) {
    half = 0x7e00U;
  } else if (magnitude >= 0x477ff000U) {  // 65520 and more round to Inf
    half = 0x7c00U;
  } else if (magnitude < 0x38800000U) {
    // Adding 0.5 aligns the last kept bit of a subnormal with the last bit of the sum.
    half = f32_to_bits(bits_to_f32(magnitude) + 0.5F) - 0x3f000000U;
  } else {
    half = (magnitude + 0xfffU + (magnitude >> 13 & 1U) - 0x38000000U) >> 13;
  }
  to->bits = static_cast<uint16_t>(sign | half);
#endif
}

}  // namespace
}  // namespace convoy
