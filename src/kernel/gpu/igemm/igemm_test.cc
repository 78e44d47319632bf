// The implicit GEMM's device text on the host: tiles, dtypes, tails, pads, Inf and NaN.
#include "kernel/gpu/igemm/igemm.cuh"

#include <gtest/gtest.h>

#include "conformance/trial.h"
#include "kernel/gpu/entry_source.h"
#include "kernel/gpu/igemm/igemm.h"
#include "support/devices.h"

namespace convoy {
extern const Kernel cuda_igemm_fprop_sm80;
}

namespace convoy::test {
namespace {

template <IgemmConfig kConfig>
void launch(const ConvProblem& p, const RunArgs& operands) {
  using Kernel = Igemm<kConfig>;
  const auto args = igemm_args<typename Kernel::Index, kConfig.grouped>(p, kConfig, operands);
  emulator::run(static_cast<u32>(igemm_blocks(p, kConfig)), igemm_threads(kConfig),
                igemm_shared_bytes(kConfig), [&] { igemm<kConfig>(args); });
}

DType dtype_of(Elem elem) {
  constexpr DType kTypes[] = {DType::kF32, DType::kTf32, DType::kF16, DType::kBf16};
  return kTypes[static_cast<u32>(elem)];
}

// Random sizes, pads, strides and dilations for one compiled configuration.
template <IgemmConfig kConfig>
void judge(int draws) {
  for (int i = 0; i < draws; ++i) {
    Random r(static_cast<uint64_t>(i) * 31 + kConfig.block_n);
    Question q{.seed = r.next()};
    ConvProblem& p = q.problem;
    p.rank = kConfig.T > 1 ? 3 : kConfig.R > 1 ? 2 : 1;
    p.dtype = dtype_of(kConfig.elem);
    p.layout = Layout::kNhwc;
    p.G = kConfig.grouped ? r.between(2, 3) : 1;
    p.C = p.G * kConfig.cpg;
    p.K = p.G * kConfig.kpg;
    p.N = r.between(1, 3);
    p.filter = {kConfig.T, kConfig.R, kConfig.S};
    for (int d = p.first_axis(); d < 3; ++d) {
      p.stride[d] = r.between(1, 2);
      p.dilation[d] = r.between(1, 2);
      p.pad_lo[d] = r.between(0, 2);
      p.pad_hi[d] = r.between(0, 2);
      p.in[d] = r.between(p.dilation[d] * (p.filter[d] - 1) + 1, 9);
    }
    if (kConfig.epilogue.bias == BiasKind::kF32) p.bias = BiasType::kF32;
    if (kConfig.epilogue.act == Act::kRelu) p.activation = Activation::kRelu;
    ASSERT_TRUE(validate(p).ok()) << to_text(p);
    q.data = i % 2 == 0 ? Data::kIntegers : Data::kReals;
    q.non_finite = i % 5 == 0;
    const std::string fault =
        Answer(q).fault_after([&](const RunArgs& operands) { launch<kConfig>(p, operands); });
    ASSERT_EQ(fault, "") << to_text(p) << " draw " << i;
  }
}

constexpr EpilogueKind kPlain = {}, kBiasRelu = {BiasKind::kF32, Act::kRelu};

TEST(GpuIgemm, ServesTheDenseTile) {
  judge<IgemmConfig{Elem::kF16, kPlain, false, false, 1, 3, 3, 32, 128, 16, 16, 128, 128, 2, 2, 4}>(
      20);
  judge<IgemmConfig{Elem::kBf16, kBiasRelu, false, true, 1, 3, 3, 24, 40, 16, 16, 64, 40, 4, 1, 3}>(
      30);
}

TEST(GpuIgemm, ServesLongSteps) {
  judge<IgemmConfig{Elem::kF16, kPlain, false, false, 1, 3, 3, 64, 128, 16, 16, 128, 128, 2, 2, 3,
                    128}>(10);
  judge<IgemmConfig{Elem::kBf16, kBiasRelu, true, false, 1, 3, 3, 56, 56, 16, 16, 64, 56, 4, 1, 3,
                    128}>(20);
  judge<IgemmConfig{Elem::kTf32, kPlain, true, false, 1, 3, 3, 30, 20, 8, 16, 64, 24, 4, 1, 3,
                    128}>(20);
}

TEST(GpuIgemm, ServesGroups) {
  judge<IgemmConfig{Elem::kF16, kBiasRelu, true, false, 1, 3, 3, 16, 16, 16, 16, 128, 16, 4, 1, 4}>(
      30);
  judge<IgemmConfig{Elem::kBf16, kPlain, true, false, 1, 3, 3, 56, 56, 16, 16, 64, 56, 4, 1, 4}>(
      20);
  judge<IgemmConfig{Elem::kF16, kPlain, true, true, 1, 1, 1, 40, 72, 16, 16, 64, 80, 4, 2, 4}>(30);
}

TEST(GpuIgemm, ServesNarrowVectors) {
  judge<IgemmConfig{Elem::kF16, kPlain, true, false, 1, 3, 3, 12, 20, 8, 8, 64, 24, 4, 1, 4}>(30);
  judge<IgemmConfig{Elem::kF16, kPlain, true, false, 1, 1, 5, 10, 9, 4, 2, 64, 16, 4, 1, 4}>(30);
}

TEST(GpuIgemm, ServesTf32AndVolumes) {
  judge<IgemmConfig{Elem::kTf32, kPlain, true, false, 1, 3, 3, 16, 24, 16, 16, 64, 24, 4, 1, 4}>(
      30);
  judge<IgemmConfig{Elem::kTf32, kBiasRelu, false, false, 2, 2, 3, 12, 48, 16, 16, 64, 48, 4, 1,
                    4}>(20);
  judge<IgemmConfig{Elem::kF16, kBiasRelu, true, false, 3, 3, 3, 8, 16, 16, 16, 64, 16, 4, 1, 4}>(
      20);
}

TEST(GpuIgemm, ServesTrueF32) {
  judge<IgemmConfig{Elem::kF32, kPlain, true, false, 1, 3, 3, 16, 24, 16, 16, 128, 24, 4, 1, 4}>(
      20);
  judge<IgemmConfig{Elem::kF32, kBiasRelu, false, false, 1, 3, 3, 20, 60, 16, 16, 64, 64, 4, 1, 4}>(
      20);
  judge<IgemmConfig{Elem::kF32, kPlain, true, true, 1, 1, 5, 9, 10, 4, 4, 64, 16, 4, 1, 4}>(20);
}

// The text of dense problems holds no group. Whoever changes it changes compiled kernels of every
// dense problem: the commit that blesses a new hash says why.
TEST(GpuIgemm, PinsTheTextOfDenseProblems) {
  struct Pin {
    const char* problem;
    uint64_t hash;
  };
  constexpr Pin kPins[] = {
      {"conv2d fprop f16 n32 c256 k256 h28 w28 r3 s3 pad1 nhwc", 12122645296345515032U},
      {"conv2d fprop bf16 n1 c64 k64 h56 w56 r1 s1 nhwc bias relu", 18335806682419342655U},
      {"conv2d fprop tf32 n8 c128 k512 h14 w14 r3 s3 stride2 pad1 nhwc", 13938786248622612630U},
      {"conv2d fprop f32 n8 c128 k512 h14 w14 r3 s3 pad1 nhwc", 2192506234628355504U},
      {"conv3d fprop f16 n8 c128 k128 d8 h28 w28 t3 r3 s3 pad1 nhwc bias:f32 silu",
       981053475605082302U},
      {"conv1d fprop f16 n8 c768 k768 w750 s9 pad4 nhwc", 6119623184803562514U},
  };
  const DeviceInfo device = described_gpu("sm_90");
  for (const Pin& pin : kPins) {
    const ConvProblem p = *parse_problem(pin.problem);
    ASSERT_FALSE(igemm_declines(p, device)) << pin.problem;
    const Source source =
        cuda_igemm_fprop_sm80.source(p, cuda_igemm_fprop_sm80.configure(p, device));
    uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
    for (const char c : source.text)
      hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    EXPECT_EQ(hash, pin.hash) << pin.problem << "\n" << source.text;
    EXPECT_NE(source.text.find(", false>;"), std::string::npos) << "a group in the arguments";
  }
}

// Rows of eight that one ldmatrix reads at one chunk never share a bank group.
TEST(GpuIgemm, SwizzleIsFreeOfConflicts) {
  for (const u32 row_bytes : {64U, 128U}) {
    for (u32 row = 0; row < 128; row += 8) {
      for (u32 chunk = 0; chunk < row_bytes / 16; ++chunk) {
        u32 groups = 0;
        for (u32 i = 0; i < 8; ++i)
          groups |= 1U << (igemm_swizzle(row_bytes, row + i, chunk) / 16 % 8);
        EXPECT_EQ(groups, 255U);
      }
    }
  }
}

}  // namespace
}  // namespace convoy::test
