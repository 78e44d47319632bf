// The implicit GEMM over channel planes on the host: tiles, dtypes, load widths, tails, pads, Inf
// and NaN.
#include "kernel/gpu/igemm_planes/igemm_planes.cuh"

#include <gtest/gtest.h>

#include "conformance/trial.h"
#include "kernel/gpu/igemm_planes/igemm_planes.h"
#include "support/devices.h"

namespace convoy::test {
namespace {

template <IgemmPlanesConfig kConfig>
void launch(const ConvProblem& p, const RunArgs& operands) {
  const IgemmPlanesArgs args = igemm_planes_args(p, kConfig, operands);
  emulator::run(static_cast<u32>(igemm_planes_blocks(p, kConfig)), igemm_planes_threads(kConfig),
                igemm_planes_shared_bytes(kConfig), [&] { igemm_planes<kConfig>(args); });
}

DType dtype_of(Elem elem) {
  constexpr DType kTypes[] = {DType::kF32, DType::kTf32, DType::kF16, DType::kBf16};
  return kTypes[static_cast<u32>(elem)];
}

// The facts that igemm_planes_config() reads off a problem, whichever tile it takes.
void expect_configured(const ConvProblem& p, const IgemmPlanesConfig& c) {
  const DeviceInfo device = described_gpu("sm_90");
  ASSERT_FALSE(igemm_planes_declines(p, device)) << to_text(p);
  const IgemmPlanesConfig chosen = igemm_planes_config(p, device);
  EXPECT_GE(chosen.x_bytes, c.x_bytes) << to_text(p);
  EXPECT_EQ(chosen.w_bytes, c.w_bytes) << to_text(p);
  EXPECT_GE(chosen.y_bytes, c.y_bytes) << to_text(p);
  EXPECT_EQ(chosen.grouped, c.grouped) << to_text(p);
}

// Random sizes, pads, strides and dilations for one compiled configuration; planes that are read
// whole or stored by vectors are a multiple of 8.
template <IgemmPlanesConfig kConfig>
void judge(int draws) {
  const int element_bytes = igemm_planes_element_bytes(kConfig);
  const bool whole = kConfig.x_bytes > element_bytes, vectors = kConfig.y_bytes > element_bytes;
  for (int i = 0; i < draws; ++i) {
    Random r(static_cast<uint64_t>(i) * 31 + kConfig.block_n);
    Question q{.seed = r.next()};
    ConvProblem& p = q.problem;
    p.rank = kConfig.T > 1 ? 3 : kConfig.R > 1 || whole ? 2 : 1;
    p.dtype = dtype_of(kConfig.elem);
    p.layout = Layout::kNchw;
    p.G = kConfig.grouped ? r.between(2, 3) : 1;
    p.C = p.G * kConfig.cpg;
    p.K = p.G * kConfig.kpg;
    p.N = r.between(1, 3);
    p.filter = {kConfig.T, kConfig.R, kConfig.S};
    for (int d = p.first_axis(); d < 3; ++d) {
      if (whole || vectors) {
        p.pad_lo[d] = p.pad_hi[d] = whole ? 0 : p.filter[d] / 2;
        p.in[d] = d == 2 ? 8 : r.between(p.filter[d], 9);
        continue;
      }
      p.stride[d] = r.between(1, 2);
      p.dilation[d] = r.between(1, 2);
      p.pad_lo[d] = r.between(0, 2);
      p.pad_hi[d] = r.between(0, 2);
      const int64_t reach = p.dilation[d] * (p.filter[d] - 1) + 1;
      p.in[d] = r.between(reach > 9 ? reach - p.pad_lo[d] : reach, std::max<int64_t>(9, reach));
    }
    if (kConfig.epilogue.bias == BiasKind::kF32) p.bias = BiasType::kF32;
    if (kConfig.epilogue.act == Act::kRelu) p.activation = Activation::kRelu;
    ASSERT_TRUE(validate(p).ok()) << to_text(p);
    expect_configured(p, kConfig);
    q.data = i % 2 == 0 ? Data::kIntegers : Data::kReals;
    q.non_finite = i % 5 == 0;
    const std::string fault =
        Answer(q).fault_after([&](const RunArgs& operands) { launch<kConfig>(p, operands); });
    ASSERT_EQ(fault, "") << to_text(p) << " draw " << i;
  }
}

constexpr EpilogueKind kPlain = {}, kBiasRelu = {BiasKind::kF32, Act::kRelu};

TEST(GpuIgemmPlanes, ServesTheDenseTile) {
  judge<IgemmPlanesConfig{Elem::kF16, kPlain, false, 1, 3, 3, 32, 128, 2, 16, 2, 128, 128, 4, 2,
                          2}>(15);
  judge<IgemmPlanesConfig{Elem::kBf16, kBiasRelu, false, 1, 3, 3, 24, 40, 2, 16, 16, 64, 40, 4, 1,
                          3}>(20);
}

TEST(GpuIgemmPlanes, ServesGroups) {
  judge<IgemmPlanesConfig{Elem::kF16, kBiasRelu, true, 1, 3, 3, 16, 16, 2, 16, 2, 128, 16, 4, 1,
                          2}>(30);
  judge<IgemmPlanesConfig{Elem::kBf16, kPlain, true, 1, 3, 3, 8, 8, 2, 16, 2, 64, 8, 4, 1, 2}>(30);
  judge<IgemmPlanesConfig{Elem::kF16, kPlain, true, 1, 1, 1, 40, 72, 2, 16, 2, 64, 80, 4, 2, 2}>(
      30);
}

TEST(GpuIgemmPlanes, ReadsPlanesWhole) {
  judge<IgemmPlanesConfig{Elem::kF16, kBiasRelu, true, 1, 1, 1, 40, 24, 16, 16, 16, 64, 24, 4, 1,
                          4}>(20);
  judge<IgemmPlanesConfig{Elem::kBf16, kPlain, false, 1, 1, 1, 36, 128, 8, 8, 8, 128, 128, 4, 2,
                          4}>(10);
  judge<IgemmPlanesConfig{Elem::kF16, kPlain, true, 1, 1, 1, 33, 20, 4, 2, 4, 64, 24, 4, 1, 3}>(20);
  judge<IgemmPlanesConfig{Elem::kTf32, kPlain, true, 1, 1, 1, 20, 24, 16, 16, 16, 64, 24, 4, 1, 4}>(
      20);
}

TEST(GpuIgemmPlanes, ServesNarrowAndWideFilters) {
  judge<IgemmPlanesConfig{Elem::kF16, kPlain, true, 1, 3, 3, 9, 9, 2, 2, 2, 64, 16, 4, 1, 2}>(30);
  judge<IgemmPlanesConfig{Elem::kF16, kPlain, true, 1, 1, 5, 10, 20, 2, 4, 2, 64, 24, 4, 1, 2}>(30);
  judge<IgemmPlanesConfig{Elem::kBf16, kBiasRelu, true, 1, 1, 40, 12, 16, 2, 16, 2, 64, 16, 4, 1,
                          2}>(20);
  judge<IgemmPlanesConfig{Elem::kF16, kPlain, true, 1, 7, 5, 9, 8, 2, 2, 2, 64, 8, 4, 1, 2}>(20);
}

TEST(GpuIgemmPlanes, ServesTf32AndVolumes) {
  judge<IgemmPlanesConfig{Elem::kTf32, kPlain, true, 1, 3, 3, 16, 24, 4, 16, 4, 64, 24, 4, 1, 4}>(
      30);
  judge<IgemmPlanesConfig{Elem::kTf32, kBiasRelu, false, 2, 2, 3, 9, 48, 4, 16, 4, 128, 48, 4, 1,
                          3}>(10);
  judge<IgemmPlanesConfig{Elem::kF16, kBiasRelu, true, 3, 3, 3, 8, 16, 2, 16, 2, 64, 16, 4, 1, 2}>(
      20);
}

// What one fragment read touches at once never shares a bank group.
TEST(GpuIgemmPlanes, SwizzleIsFreeOfConflicts) {
  constexpr IgemmPlanesConfig kHalf = {.elem = Elem::kF16}, kWord = {.elem = Elem::kTf32};
  for (u32 k = 0; k < 32; k += 8) {
    for (u32 m = 0; m < 128; m += 8) {
      u32 groups = 0;
      for (u32 i = 0; i < 8; ++i)
        groups |= 1U << igemm_planes_swizzle(kHalf, k + i, m) / 16 % 8;
      EXPECT_EQ(groups, 255U);
      if (k >= 16) continue;
      u32 banks = 0;
      for (u32 lane = 0; lane < 32; ++lane)
        banks |= 1U << igemm_planes_swizzle(kWord, k + lane % 4, m + lane / 4) / 4 % 32;
      EXPECT_EQ(banks, ~0U);
    }
  }
}

}  // namespace
}  // namespace convoy::test
