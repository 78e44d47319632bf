// The CPU device: tiers and their caps, ceilings between measured sizes, the limit of a problem.
#include <convoy/device.h>
#include <gtest/gtest.h>

#include "launch/cpu/cpu_device.h"

namespace convoy {
namespace {

TEST(CpuDevice, ReportsAMachine) {
  const Result<Device> device = open_cpu({});
  ASSERT_TRUE(device);
  EXPECT_FALSE(device->info().name.empty());
  EXPECT_GE(device->info().threads, 1);
  EXPECT_GT(device->info().memory_bytes, 0);
  EXPECT_GT(device->info().l2_bytes, 0);
  EXPECT_FALSE(device->info().measured);
  EXPECT_EQ(open_cpu({.threads = 3})->info().threads, 3);
}

TEST(CpuDevice, ACapLowersTheTierAndNeverRaisesIt) {
  const Isa own = open_cpu({})->info().isa;
  EXPECT_EQ(open_cpu({.isa_cap = Isa::kBaseline})->info().isa, Isa::kBaseline);
  EXPECT_EQ(open_cpu({.isa_cap = own})->info().isa, own);
  if (own != Isa::kNeon) {
    EXPECT_EQ(open_cpu({.isa_cap = Isa::kAvx512Bf16})->info().isa, own);
    const Status foreign = open_cpu({.isa_cap = Isa::kNeon}).status();
    EXPECT_EQ(foreign.code(), Code::kInvalid);
    EXPECT_NE(foreign.message().find("neon"), std::string::npos);
  }
}

TEST(CpuDevice, UsableTiersRiseToItsOwn) {
  DeviceInfo info{.isa = Isa::kAvx512};
  EXPECT_EQ(usable_tiers(info), (std::vector<Isa>{Isa::kBaseline, Isa::kAvx2, Isa::kAvx512}));
  info.isa = Isa::kNeon;
  EXPECT_EQ(usable_tiers(info), (std::vector<Isa>{Isa::kBaseline, Isa::kNeon}));
}

TEST(IsaNames, RoundTrip) {
  for (const char* text : {"baseline", "avx2", "avx512", "avx512bf16", "neon"}) {
    ASSERT_TRUE(isa_from_name(text));
    EXPECT_STREQ(name(*isa_from_name(text)), text);
  }
  EXPECT_FALSE(isa_from_name("sse9"));
}

TEST(Ceilings, CopyRatesAreInterpolatedOverTheLogarithm) {
  const Ceilings c{.copy = {{1 << 10, 100}, {1 << 12, 60}, {1 << 20, 20}},
                   .copy_streaming_gbs = 25};
  EXPECT_EQ(c.copy_gbs(1), 100);
  EXPECT_EQ(c.copy_gbs(1 << 10), 100);
  EXPECT_EQ(c.copy_gbs(1 << 11), 80);
  EXPECT_EQ(c.copy_gbs(1 << 12), 60);
  EXPECT_EQ(c.copy_gbs(1 << 16), 40);
  EXPECT_EQ(c.copy_gbs(int64_t{1} << 40), 25) << "beyond the caches the better of the two";
}

TEST(LimitOf, IsTheLongerOfBytesAndArithmetic) {
  Ceilings c{.copy = {{1, 10}},
             .copy_streaming_gbs = 10,
             .fma_gflops = 100,
             .matrix_gflops = 400,
             .matrix_tf32_gflops = 200};
  EXPECT_DOUBLE_EQ(limit(1000, 10'000'000, DType::kF32, c).us, 1000);
  EXPECT_FALSE(limit(1000, 10'000'000, DType::kF32, c).by_compute);
  EXPECT_DOUBLE_EQ(limit(1'000'000'000, 1000, DType::kF32, c).us, 10000);
  EXPECT_TRUE(limit(1'000'000'000, 1000, DType::kF32, c).by_compute);
  EXPECT_DOUBLE_EQ(limit(1'000'000'000, 1000, DType::kBf16, c).us, 2500);
  EXPECT_DOUBLE_EQ(limit(1'000'000'000, 1000, DType::kTf32, c).us, 5000);
  EXPECT_DOUBLE_EQ(limit(1'000'000'000, 1000, DType::kF16, c).us, 10000) << "no unit for f16";
  c.matrix_f16_gflops = 800;
  EXPECT_DOUBLE_EQ(limit(1'000'000'000, 1000, DType::kF16, c).us, 1250);
}

TEST(DeviceCopy, TakesCeilingsAndKeepsTheRest) {
  const Device device = *open_cpu({});
  const Device measured = device.with_ceilings({.fma_gflops = 7});
  EXPECT_EQ(measured.info().ceilings.fma_gflops, 7);
  EXPECT_TRUE(measured.info().measured);
  EXPECT_EQ(measured.info().name, device.info().name);
  EXPECT_FALSE(device.info().measured);
}

}  // namespace
}  // namespace convoy
