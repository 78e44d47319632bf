// Calibration probes of the baseline tier: SSE2, NEON, or plain scalars elsewhere.
#include "launch/cpu/calibrate_loops.h"

#if defined(__x86_64__)
#include <emmintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace convoy {
namespace {

#if defined(__x86_64__)
struct Vec {
  using Type = __m128;
  static Type load(const std::byte* p) { return _mm_load_ps(reinterpret_cast<const float*>(p)); }
  static void store(std::byte* p, Type v) { _mm_store_ps(reinterpret_cast<float*>(p), v); }
  static void stream(std::byte* p, Type v) { _mm_stream_ps(reinterpret_cast<float*>(p), v); }
  static void hide(Type& v) { asm volatile("" : "+x"(v)); }
  static Type start() { return _mm_set1_ps(1); }
  static Type factor() { return _mm_set1_ps(0.99F); }
  static Type addend() { return _mm_set1_ps(0.01F); }
  static Type step(Type sum, Type f, Type a) { return _mm_add_ps(_mm_mul_ps(sum, f), a); }
};
constexpr bool kStreams = true;
#elif defined(__aarch64__)
struct Vec {
  using Type = float32x4_t;
  static Type load(const std::byte* p) { return vld1q_f32(reinterpret_cast<const float*>(p)); }
  static void store(std::byte* p, Type v) { vst1q_f32(reinterpret_cast<float*>(p), v); }
  static void hide(Type& v) { asm volatile("" : "+w"(v)); }
  static Type start() { return vdupq_n_f32(1); }
  static Type factor() { return vdupq_n_f32(0.99F); }
  static Type addend() { return vdupq_n_f32(0.01F); }
  static Type step(Type sum, Type f, Type a) { return vfmaq_f32(a, sum, f); }
};
constexpr bool kStreams = false;
#else
#error "calibrate_baseline.cc knows x86-64 and AArch64"
#endif

}  // namespace

Probes probes_baseline() {
  Probes probes{.copy = copy_loop<Vec, false>,
                .fma = arithmetic_loop<Vec>,
                .fma_flops = int64_t{kChains} * 4 * 2};
  if constexpr (kStreams) probes.stream = copy_loop<Vec, true>;
  return probes;
}

}  // namespace convoy
