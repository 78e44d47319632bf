// Calibration probes of the avx2 tier: 256-bit vectors.
#include <immintrin.h>

#include "launch/cpu/calibrate_loops.h"

namespace convoy {
namespace {

struct Vec {
  using Type = __m256;
  static Type load(const std::byte* p) { return _mm256_load_ps(reinterpret_cast<const float*>(p)); }
  static void store(std::byte* p, Type v) { _mm256_store_ps(reinterpret_cast<float*>(p), v); }
  static void stream(std::byte* p, Type v) { _mm256_stream_ps(reinterpret_cast<float*>(p), v); }
  static void hide(Type& v) { asm volatile("" : "+x"(v)); }
  static Type start() { return _mm256_set1_ps(1); }
  static Type factor() { return _mm256_set1_ps(0.99F); }
  static Type addend() { return _mm256_set1_ps(0.01F); }
  static Type step(Type sum, Type f, Type a) { return _mm256_fmadd_ps(sum, f, a); }
};

}  // namespace

Probes probes_avx2() {
  return {.copy = copy_loop<Vec, false>,
          .stream = copy_loop<Vec, true>,
          .fma = arithmetic_loop<Vec>,
          .fma_flops = int64_t{kChains} * 8 * 2};
}

}  // namespace convoy
