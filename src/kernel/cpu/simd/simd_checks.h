// The checks of simd.h for one tier; a file of each tier includes it.
#pragma once

namespace convoy::test {

// The first operation of the tier that differs from its scalar definition, or nothing.
const char* simd_fault_baseline();
const char* simd_fault_avx2();
const char* simd_fault_avx512();

}  // namespace convoy::test
