// The checks of simd.h in the avx2 tier.
#include "kernel/cpu/simd/simd_checks_body.h"

namespace convoy::test {

const char* simd_fault_avx2() {
  return simd_fault();
}

}  // namespace convoy::test
