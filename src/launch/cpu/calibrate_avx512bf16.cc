// Calibration probe of the avx512bf16 tier: the bf16 dot product, above what avx512 measures.
#include <immintrin.h>

#include "launch/cpu/calibrate_loops.h"

namespace convoy {
namespace {

struct Dot {
  using Type = __m512;
  static void hide(Type& v) { asm volatile("" : "+v"(v)); }
  static void hide(__m512bh& v) { asm volatile("" : "+v"(v)); }
  static Type start() { return _mm512_set1_ps(1); }
  static __m512bh factor() { return _mm512_cvtne2ps_pbh(_mm512_set1_ps(0.5F), start()); }
  static __m512bh addend() { return _mm512_cvtne2ps_pbh(start(), _mm512_set1_ps(-0.5F)); }
  static Type step(Type sum, __m512bh f, __m512bh a) { return _mm512_dpbf16_ps(sum, f, a); }
};

}  // namespace

Probes probes_avx512bf16() {
  Probes probes = probes_avx512();
  probes.matrix = arithmetic_loop<Dot>;
  probes.matrix_flops = int64_t{kChains} * 32 * 2;
  return probes;
}

}  // namespace convoy
