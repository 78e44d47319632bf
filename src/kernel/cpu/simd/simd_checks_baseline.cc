// The checks of simd.h in the baseline tier.
#include "kernel/cpu/simd/simd_checks_body.h"

namespace convoy::test {

const char* simd_fault_baseline() {
  return simd_fault();
}

}  // namespace convoy::test
