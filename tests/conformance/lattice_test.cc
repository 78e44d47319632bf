// A lattice of shapes that catch tile tails, merged groups and misread strides, on exact integers.
#include <gtest/gtest.h>

#include "conformance/trial.h"
#include "support/devices.h"

namespace convoy::test {
namespace {

struct Row {
  const char* why;
  const char* shape;  // the words after the dtype
};

// Batches and images are cut to what a test can count; channels, filters and steps are whole.
constexpr Row kRows[] = {
    {"one group, the anchor", "conv2d fprop f32 n2 c64 k64 h14 w14 r3 s3 pad1"},
    {"plain groups", "conv2d fprop f32 n2 c64 k64 g4 h14 w14 r3 s3 pad1"},
    {"8 channels per group, 72 products", "conv2d fprop f32 n2 c256 k256 g32 h8 w8 r3 s3 pad1"},
    {"ResNeXt-50 32x4d", "conv2d fprop f32 n1 c128 k128 g32 h14 w14 r3 s3 pad1"},
    {"ResNeXt-50 32x4d, stride", "conv2d fprop f32 n1 c256 k256 g32 h14 w14 r3 s3 stride2 pad1"},
    {"ResNeXt-101 64x4d", "conv2d fprop f32 n1 c256 k256 g64 h7 w7 r3 s3 pad1"},
    {"ResNeXt-101 32x16d", "conv2d fprop f32 n1 c512 k512 g32 h4 w4 r3 s3 pad1"},
    {"twice the filters", "conv2d fprop f32 n2 c64 k128 g4 h10 w10 r3 s3 pad1"},
    {"half the filters", "conv2d fprop f32 n2 c128 k64 g4 h10 w10 r3 s3 pad1"},
    {"strided 1x1", "conv2d fprop f32 n2 c128 k128 g8 h16 w16 r1 s1 stride2"},
    {"grouped pointwise", "conv2d fprop f32 n2 c64 k96 g4 h7 w9 r1 s1"},
    {"6 filters per group: no whole vector", "conv2d fprop f32 n2 c24 k24 g4 h9 w11 r3 s3 pad1"},
    {"4 channels per group: half a vector", "conv2d fprop f32 n1 c64 k64 g16 h8 w8 r3 s3 pad1"},
    {"3 in, 5 out, 1x1", "conv2d fprop f32 n2 c24 k40 g8 h9 w11 r1 s1 stride2"},
    {"3 in, 5 out, 3x3", "conv2d fprop f32 n2 c24 k40 g8 h9 w11 r3 s3 stride2 pad1"},
    {"stride with dilation", "conv2d fprop f32 n2 c16 k16 g8 h9 w11 r3 s3 stride2 pad1 dil2"},
    {"dilation without pad", "conv2d fprop f32 n2 c32 k32 g4 h9 w11 r3 s3 dil2"},
    {"axes differ", "conv2d fprop f32 n2 c32 k32 g2 h13 w9 r3 s3 stride2x1 pad1x0 dil1x2"},
    {"axes differ, other way",
     "conv2d fprop f32 n2 c32 k32 g2 h13 w9 r3 s3 stride1x2 pad0x1 dil2x1"},
    {"even filter", "conv2d fprop f32 n1 c32 k32 g2 h12 w12 r4 s4 pad1:2"},
    {"even filter, other side", "conv2d fprop f32 n1 c32 k32 g2 h12 w12 r4 s4 pad2:1"},
    {"prime groups, large filter", "conv2d fprop f32 n1 c3 k3 g3 h48 w64 r11 s11 pad5"},
    {"depthwise 96", "conv2d fprop f32 n1 c96 k96 g96 h12 w16 r3 s3 pad1"},
    {"depthwise 5x5", "conv2d fprop f32 n2 c72 k72 g72 h14 w14 r5 s5 pad2"},
    {"depthwise 7x7, stride", "conv2d fprop f32 n2 c64 k64 g64 h14 w14 r7 s7 stride2 pad3"},
    {"ConvNeXt", "conv2d fprop f32 n1 c192 k192 g192 h14 w14 r7 s7 pad3"},
    {"depthwise 13x13", "conv2d fprop f32 n1 c40 k40 g40 h14 w14 r13 s13 pad6"},
    {"RepLKNet 31x31", "conv2d fprop f32 n1 c24 k24 g24 h14 w14 r31 s31 pad15"},
    {"SLaK 51x5", "conv2d fprop f32 n1 c24 k24 g24 h14 w14 r51 s5 pad25x2"},
    {"SLaK 5x51", "conv2d fprop f32 n1 c24 k24 g24 h14 w14 r5 s51 pad2x25"},
    {"depthwise video, stride", "conv2d fprop f32 n2 c192 k192 g192 h15 w20 r3 s3 stride2 pad1"},
    {"depthwise 480", "conv2d fprop f32 n1 c480 k480 g480 h14 w14 r5 s5 pad2"},
    {"multiplier 2", "conv2d fprop f32 n2 c32 k64 g32 h14 w14 r3 s3 pad1"},
    {"many in, one out", "conv2d fprop f32 n2 c64 k32 g32 h14 w14 r3 s3 pad1"},
    {"pair 4, 2", "conv2d fprop f32 n1 c128 k64 g32 h9 w9 r3 s3 pad1"},
    {"pair 5, 3", "conv2d fprop f32 n1 c160 k96 g32 h9 w9 r3 s3 pad1"},
    {"pair 15, 12", "conv2d fprop f32 n1 c120 k96 g8 h9 w9 r3 s3 pad1"},
    {"pair 4, 32", "conv2d fprop f32 n1 c32 k256 g8 h9 w9 r3 s3 pad1"},
    {"pair 14, 6", "conv2d fprop f32 n1 c112 k48 g8 h9 w9 r3 s3 pad1"},
    {"pair 30, 19", "conv2d fprop f32 n1 c120 k76 g4 h9 w9 r3 s3 pad1"},
    {"wide groups", "conv2d fprop f32 n1 c512 k512 g8 h5 w5 r3 s3 pad1"},
    {"dense 128", "conv2d fprop f32 n1 c128 k128 h7 w7 r3 s3 pad1"},
    {"stem", "conv2d fprop f32 n1 c3 k64 h32 w32 r7 s7 stride2 pad3"},
    {"wide 2 groups, 1x1", "conv2d fprop f32 n2 c512 k256 g2 h7 w7 r1 s1"},
    {"wide 2 groups, 1x1, stride", "conv2d fprop f32 n2 c512 k256 g2 h14 w14 r1 s1 stride2"},
    {"wide 2 groups, exact fit", "conv2d fprop f32 n4 c512 k256 g2 h3 w3 r3 s3"},
    {"one filter", "conv2d fprop f32 n1 c32 k1 h16 w16 r3 s3 pad1"},
    {"one channel", "conv2d fprop f32 n1 c1 k64 h16 w16 r3 s3 pad1"},
    {"one to one", "conv2d fprop f32 n1 c1 k1 h32 w32 r8 s8 pad1"},
    {"a 1x1 output", "conv2d fprop f32 n1 c16 k16 h3 w3 r3 s3"},
    {"a 1x1 output, groups", "conv2d fprop f32 n1 c16 k16 g2 h3 w3 r3 s3"},
    {"halo on all sides", "conv2d fprop f32 n1 c16 k16 g2 h3 w3 r3 s3 pad1"},
    {"image smaller than the filter", "conv2d fprop f32 n2 c8 k8 g2 h1 w1 r3 s3 pad1"},
    {"one row", "conv2d fprop f32 n2 c8 k8 g2 h1 w17 r3 s3 pad1"},
    {"one column", "conv2d fprop f32 n2 c8 k8 g2 h5 w1 r3 s3 pad1"},
    {"stride of the filter", "conv2d fprop f32 n1 c32 k32 g2 h16 w16 r3 s3 stride3 pad1"},
    {"stride past the filter", "conv2d fprop f32 n1 c32 k32 g2 h16 w16 r3 s3 stride5 pad1"},
    {"stride 2, dilation 2", "conv2d fprop f32 n2 c16 k16 g2 h15 w15 r3 s3 stride2 dil2"},
    {"stride 4, dilation 2", "conv2d fprop f32 n2 c16 k16 g2 h15 w15 r3 s3 stride4 dil2"},
    {"stride 3, dilation 2", "conv2d fprop f32 n2 c16 k16 g2 h15 w15 r3 s3 stride3 dil2"},
    {"depthwise batch, stride", "conv2d fprop f32 n8 c16 k16 g16 h28 w28 r3 s3 stride2 pad1"},
    {"depthwise 3D, stride", "conv3d fprop f32 n1 c16 k16 g16 d9 h9 w9 t3 r3 s3 stride2 pad1"},
    {"3D wide groups", "conv3d fprop f32 n1 c128 k64 g2 d3 h3 w3 t3 r3 s3"},
    {"3D pointwise", "conv3d fprop f32 n1 c128 k64 g2 d3 h7 w7 t1 r1 s1 stride2"},
    {"3D one to one", "conv3d fprop f32 n1 c1 k1 d14 h10 w10 t3 r3 s3 pad1"},
    {"3D three to one", "conv3d fprop f32 n1 c3 k1 d8 h8 w8 t3 r3 s3 pad1"},
    {"3D depthwise", "conv3d fprop f32 n1 c96 k96 g96 d4 h6 w10 t3 r3 s3 pad1"},
    {"ResNeXt3D", "conv3d fprop f32 n1 c256 k256 g256 d1 h7 w7 t3 r3 s3 pad1"},
    {"video VAE", "conv3d fprop f32 n1 c64 k3 d5 h6 w6 t3 r3 s3 pad2:0x1x1"},
    {"odd sizes 3D", "conv3d fprop f32 n1 c16 k8 g2 d9 h9 w9 t3 r3 s3 stride2 pad1"},
    {"stride is the filter", "conv2d fprop f32 n4 c192 k4 h28 w28 r2 s2 stride2"},
    {"depthwise patches", "conv2d fprop f32 n4 c32 k32 g32 h28 w28 r2 s2 stride2"},
    {"step past the image", "conv2d fprop f32 n2 c8 k8 g2 h64 w33 r3 s3 stride300x31 pad1 dil3"},
    {"rows past 65535", "conv2d fprop f32 n1 c2 k2 g2 h257 w256 r1 s1"},
    {"groups past 65535", "conv2d fprop f32 n1 c70000 k70000 g70000 h1 w1 r1 s1"},
    {"HuBERT positions", "conv1d fprop f32 n1 c768 k768 g16 w6 s128 pad64"},
    {"1D 96 groups", "conv1d fprop f32 n1 c96 k96 g96 w512 s128 pad64"},
};

class Lattice : public testing::TestWithParam<Row> {};

TEST_P(Lattice, EveryKernelAndTierIsExact) {
  const Result<ConvProblem> parsed = parse_problem(GetParam().shape);
  ASSERT_TRUE(parsed) << parsed.status().message();
  for (const DType dtype : {DType::kF32, DType::kTf32, DType::kF16, DType::kBf16}) {
    for (const Layout layout : {Layout::kNchw, Layout::kNhwc}) {
      ConvProblem p = *parsed;
      p.dtype = dtype;
      p.layout = layout;
      const Question question{.problem = p, .seed = 7};
      const Answer answer(question);
      for (const Isa tier : tiers()) {
        for (const std::string& kernel : accepting(p, cpu_of(tier, 2))) {
          // The reference has one code for all tiers and walks every layout alike.
          const bool once = dtype == DType::kF32 && tier == tiers().front();
          if (is_reference(kernel) && !once) continue;
          const Manner manner{.tier = tier, .threads = 2, .kernel = kernel};
          ASSERT_EQ(answer.judge(manner).fault, "") << report_shrunk(question, manner);
        }
      }
    }
  }
}

std::string test_name(const testing::TestParamInfo<Row>& info) {
  std::string name;
  for (const char* c = info.param.why; *c != '\0'; ++c) {
    if (std::isalnum(static_cast<unsigned char>(*c)) != 0) name += *c;
    if (*c == ' ' || *c == '-') name += '_';
  }
  return name;
}
INSTANTIATE_TEST_SUITE_P(Shapes, Lattice, testing::ValuesIn(kRows), test_name);

TEST(LatticeSize, NoRowIsLost) {
  EXPECT_GE(std::size(kRows), 70U);
}

}  // namespace
}  // namespace convoy::test
