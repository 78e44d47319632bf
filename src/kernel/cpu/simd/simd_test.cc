// The SIMD wrapper of every tier that this CPU has, against scalar definitions.
#include <gtest/gtest.h>

#include "kernel/cpu/simd/simd_checks.h"
#include "launch/cpu/cpu_device.h"

namespace convoy::test {
namespace {

// Skips where the CPU lacks the tier, so that the report counts it.
void check_tier(Isa isa, const char* (*fault)()) {
  const Result<Device> device = open_cpu({.isa_cap = isa});
  if (!device || device->info().isa != isa) GTEST_SKIP() << "this CPU lacks " << name(isa);
  EXPECT_STREQ(fault(), "");
}

TEST(Simd, BaselineKeepsTheScalarDefinitions) {
  check_tier(Isa::kBaseline, simd_fault_baseline);
}
#if defined(__x86_64__)
TEST(Simd, Avx2KeepsTheScalarDefinitions) {
  check_tier(Isa::kAvx2, simd_fault_avx2);
}
TEST(Simd, Avx512KeepsTheScalarDefinitions) {
  check_tier(Isa::kAvx512, simd_fault_avx512);
}
#endif

}  // namespace
}  // namespace convoy::test
