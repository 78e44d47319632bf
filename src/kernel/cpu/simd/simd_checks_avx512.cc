// The checks of simd.h in the avx512 tier.
#include "kernel/cpu/simd/simd_checks_body.h"

namespace convoy::test {

const char* simd_fault_avx512() {
  return simd_fault();
}

}  // namespace convoy::test
