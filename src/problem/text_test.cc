// The text form: what it accepts, what it prints, and every rule it names when it refuses.
#include <convoy/problem.h>
#include <gtest/gtest.h>

#include "support/problems.h"

namespace convoy {
namespace {

std::string refusal(const std::string& text) {
  const Result<ConvProblem> p = parse_problem(text);
  EXPECT_FALSE(p) << text;
  if (p) return "";
  EXPECT_EQ(p.status().code(), Code::kInvalid) << text;
  EXPECT_EQ(p.status().message().find('\n'), std::string::npos);
  EXPECT_NE(p.status().message().find("; "), std::string::npos) << p.status().message();
  return p.status().message();
}

TEST(Text, PrintsWhatItParses) {
  for (const char* text : {
           "conv2d fprop f16 n32 c256 k256 g32 h56 w56 r3 s3 stride2 pad1 nhwc bias relu",
           "conv1d wgrad bf16 n1 c8 k8 g8 w100 s4 pad3:0 bias:f32",
           "conv3d dgrad tf32 n0 c2 k4 d5 h6 w7 t1 r2 s3 stride1x2x3 pad0x1x1:2 dil3x1x1",
           "conv2d fprop f32 n1 c1 k1 h1 w1 r1 s1 hardswish",
       }) {
    const Result<ConvProblem> p = parse_problem(text);
    ASSERT_TRUE(p) << p.status().message();
    EXPECT_EQ(to_text(*p), text);
  }
}

TEST(Text, RandomProblemsComeBackEqualAndPrintOnce) {
  for (uint64_t seed = 0; seed < 20000; ++seed) {
    test::Random r(seed);
    const ConvProblem p = test::random_problem(r);
    const std::string text = to_text(p);
    const Result<ConvProblem> back = parse_problem(text);
    ASSERT_TRUE(back) << text << ": " << back.status().message();
    ASSERT_EQ(*back, p) << text;
    ASSERT_EQ(to_text(*back), text);
  }
}

TEST(Text, OrderBlanksSignsAndDefaultsDoNotMatter) {
  const auto same = [](const char* text) {
    const Result<ConvProblem> p = parse_problem(text);
    return p ? to_text(*p) : p.status().message();
  };
  const std::string plain = "conv2d fprop f32 n1 c8 k8 h5 w6 r3 s3 pad1";
  EXPECT_EQ(same("  conv2d   fprop f32 s3 r3 pad1x1 w6 h5 k8 c8 n1 g1  "), plain);
  EXPECT_EQ(same("conv2d fprop f32 n+1 c8 k8 h5 w6 r3 s3 pad1:1 stride1x1 dil1 nchw"), plain);
  EXPECT_EQ(same("conv2d fprop f32 n1 c8 k8 h5 w6 r3 s3 same"), plain);
  EXPECT_EQ(same("conv2d fprop f32 n1 c8 k8 h5 w6 r3 s3 valid"),
            "conv2d fprop f32 n1 c8 k8 h5 w6 r3 s3");
}

TEST(Text, SameKeepsTheSizeAndPutsTheExtraAtTheEnd) {
  const auto pads = [](const char* text) {
    const Result<ConvProblem> p = parse_problem(text);
    EXPECT_TRUE(p) << text;
    return p ? std::pair(p->pad_lo[2], p->pad_hi[2]) : std::pair<int64_t, int64_t>(-1, -1);
  };
  using Pair = std::pair<int64_t, int64_t>;
  EXPECT_EQ(pads("conv1d fprop f32 n1 c1 k1 w5 s4 same"), Pair(1, 2));  // F15a
  EXPECT_EQ(pads("conv1d fprop f32 n1 c1 k1 w5 s2 same"), Pair(0, 1));  // F15b
  const Result<ConvProblem> c = parse_problem("conv2d fprop f32 n1 c4 k4 g2 h6 w5 r4 s2 same");
  EXPECT_EQ(to_text(*c), "conv2d fprop f32 n1 c4 k4 g2 h6 w5 r4 s2 pad1:2x0:1");  // F15c
  EXPECT_EQ(pads("conv1d fprop f32 n1 c1 k1 w7 s3 same stride2"), Pair(1, 1));
  EXPECT_EQ(pads("conv1d fprop f32 n1 c1 k1 w8 s3 stride2 same"), Pair(0, 1));
  EXPECT_EQ(pads("conv1d fprop f32 n1 c1 k1 w9 s1 same stride4"), Pair(0, 0));
  EXPECT_EQ(pads("conv1d fprop f32 n1 c1 k1 w10 s3 same dil4"), Pair(4, 4));
  EXPECT_EQ(pads("conv1d fprop f32 n1 c1 k1 w9 s4 causal dil2 stride3"), Pair(6, 0));
  for (int64_t s = 1; s < 9; ++s) {
    for (int64_t stride = 1; stride < 4; ++stride) {
      const Result<ConvProblem> p =
          parse_problem("conv1d fprop f32 n1 c1 k1 w10 same s" + std::to_string(s) + " stride" +
                        std::to_string(stride));
      ASSERT_TRUE(p);
      EXPECT_EQ(out_extent(*p, 2), (10 + stride - 1) / stride);
    }
  }
}

struct Rule {
  const char* text;
  const char* names;  // the parameter, with its value where it has one
};

TEST(Text, RefusalsNameTheParameter) {
  constexpr Rule kRules[] = {
      {"", "rank"},
      {"conv4d fprop f32 n1 c1 k1 w1 s1", "conv4d"},
      {"Conv2d fprop f32 n1 c1 k1 h1 w1 r1 s1", "Conv2d"},
      {"conv2d backward f32 n1 c1 k1 h1 w1 r1 s1", "backward"},
      {"conv2d fprop f64 n1 c1 k1 h1 w1 r1 s1", "f64"},
      {"conv2d fprop f32 c1 k1 h1 w1 r1 s1", "n is missing"},
      {"conv2d fprop f32 n1 k1 h1 w1 r1 s1", "c is missing"},
      {"conv2d fprop f32 n1 c1 h1 w1 r1 s1", "k is missing"},
      {"conv2d fprop f32 n1 c1 k1 w1 r1 s1", "h is missing"},
      {"conv3d fprop f32 n1 c1 k1 d1 h1 w1 r1 s1", "t is missing"},
      {"conv1d fprop f32 n1 c1 k1 h1 w1 s1", "'h1'"},
      {"conv1d fprop f32 n1 c1 k1 w1 r1 s1", "'r1'"},
      {"conv2d fprop f32 n1 c1 k1 d1 h1 w1 r1 s1", "'d1'"},
      {"conv2d fprop f32 n1 c1 k1 t1 h1 w1 r1 s1", "'t1'"},
      {"conv2d fprop f32 n1 n1 c1 k1 h1 w1 r1 s1", "'n1'"},
      {"conv2d fprop f32 n1 c1 k1 h1 w1 r1 s1 pad1 same", "pad"},
      {"conv2d fprop f32 n1 c1 k1 h1 w1 r1 s1 valid pad0", "pad"},
      {"conv2d fprop f32 n1 c1 k1 h1 w1 r1 s1 same valid", "pad"},
      {"conv2d fprop f32 n1 c1 k1 h1 w1 r1 s1 causal", "causal"},
      {"conv2d fprop f32 n1 c1 k1 h1 w1 r1 s1 nchw nhwc", "layout"},
      {"conv2d fprop f32 n1 c1 k1 h1 w1 r1 s1 bias bias:f32", "bias"},
      {"conv2d fprop f32 n1 c1 k1 h1 w1 r1 s1 relu relu6", "activation"},
      {"conv2d fprop f32 n1 c1 k1 h1 w1 r1 s1 stride1 stride1", "stride"},
      {"conv2d fprop f32 n1 c1 k1 h1 w1 r1 s1 tanh", "tanh"},
      {"conv2d fprop f32 n1 c1 k1 h1 w1 r1 s1 q3", "q3"},
      {"conv2d fprop f32 n1 c1 k1 h1 w1 r1 s1 n", "'n'"},
      {"conv2d fprop f32 n1.5 c1 k1 h1 w1 r1 s1", "n1.5"},
      {"conv2d fprop f32 n+-1 c1 k1 h1 w1 r1 s1", "n+-1"},
      {"conv2d fprop f32 n9223372036854775808 c1 k1 h1 w1 r1 s1", "2^63"},
      {"conv2d fprop f32 n1 c1 k1 h1 w1 r1 s1 pad1:2:3", "pad1:2:3"},
      {"conv2d fprop f32 n1 c1 k1 h1 w1 r1 s1 pad1x1x1", "pad1x1x1"},
      {"conv2d fprop f32 n1 c1 k1 h1 w1 r1 s1 pad:1", "pad:1"},
      {"conv2d fprop f32 n1 c1 k1 h1 w1 r1 s1 stride1x", "stride1x"},
      {"conv2d fprop f32 n1 c1 k1 h9 w9 r1 s1 stride0", "stride_h=0"},
      {"conv2d fprop f32 n1 c1 k1 h9 w9 r1 s1 stride1x0", "stride_w=0"},
      {"conv3d fprop f32 n1 c1 k1 d9 h9 w9 t1 r1 s1 stride-1x1x1", "stride_d=-1"},
      {"conv2d fprop f32 n1 c1 k1 h9 w9 r1 s1 dil0", "dil_h=0"},
      {"conv2d fprop f32 n1 c1 k1 h9 w9 r1 s1 pad0x-1", "pad_w"},
      {"conv2d fprop f32 n1 c1 k1 h9 w9 r1 s1 pad0:-2x0", "pad_h (end)=-2"},
      {"conv2d fprop f32 n1 c1 k1 h9 w9 r0 s1", "r=0"},
      {"conv2d fprop f32 n1 c1 k1 h0 w9 r1 s1", "input h=0"},
      {"conv2d fprop f32 n1 c1 k1 h0 w9 r1 s1 same", "input h=0"},
      {"conv2d fprop f32 n-1 c1 k1 h9 w9 r1 s1", "n=-1"},
      {"conv2d fprop f32 n1 c0 k1 h9 w9 r1 s1", "c=0"},
      {"conv2d fprop f32 n1 c1 k0 h9 w9 r1 s1", "k=0"},
      {"conv2d fprop f32 n1 c1 k1 g0 h9 w9 r1 s1", "g=0"},
      {"conv2d fprop f32 n1 c64 k64 g3 h9 w9 r1 s1", "g=3 must divide c=64"},
      {"conv2d fprop f32 n1 c6 k64 g3 h9 w9 r1 s1", "g=3 must divide k=64"},
      {"conv2d fprop f32 n1 c6 k4 g2 h2 w2 r3 s3", "effective kernel 3"},               // F35a
      {"conv2d fprop f32 n1 c4 k4 g4 h4 w4 r3 s3 stride2 dil2", "effective kernel 5"},  // F35b
      {"conv2d fprop f32 n1 c2 k2 g2 h8 w8 r3 s3 dil2147483647", "4294967295"},         // F36
      {"conv2d fprop f32 n1 c2 k2 g2 h8 w8 r3 s3 dil9223372036854775807", "dil_h"},
      {"conv1d fprop f32 n1 c1 k1 w1 s3 causal dil9223372036854775807", "pad_w"},
      {"conv1d fprop f32 n1 c1 k1 w9 s1 pad9223372036854775807", "padded input along w"},
      {"conv1d fprop f32 n9223372036854775807 c9 k9 w9 s1", "too large"},
      {"conv2d dgrad f32 n1 c1 k1 h9 w9 r1 s1 bias", "bias"},
      {"conv2d wgrad f32 n1 c1 k1 h9 w9 r1 s1 relu", "relu"},
  };
  for (const Rule& rule : kRules) {
    const std::string message = refusal(rule.text);
    EXPECT_NE(message.find(rule.names), std::string::npos) << rule.text << ": " << message;
  }
}

// F64: a dtype that the grammar reserves is valid and unsupported, and no filter `s8`.
TEST(Text, ReservedDTypesAreUnsupportedByName) {
  for (const char* dtype : {"e4m3", "e5m2", "s8"}) {
    const Result<ConvProblem> p =
        parse_problem("conv2d fprop " + std::string(dtype) + " n1 c1 k1 h9 w9 r8 s8");
    ASSERT_FALSE(p);
    EXPECT_EQ(p.status().code(), Code::kUnsupported);
    EXPECT_NE(p.status().message().find(std::string("dtype ") + dtype), std::string::npos);
  }
}

TEST(Text, APartialTextLeavesFieldsOpen) {
  const Result<PartialProblem> p = parse_partial("conv2d fprop f32 s3 causalx");
  EXPECT_FALSE(p);
  const Result<PartialProblem> open = parse_partial("conv2d wgrad f16 r3 g4 same");
  ASSERT_TRUE(open);
  EXPECT_FALSE(open->N || open->C || open->K || open->in[1] || open->filter[2]);
  EXPECT_EQ(open->filter[1], 3);
  EXPECT_EQ(open->G, 4);
  EXPECT_EQ(open->pad, PartialProblem::Pad::kSame);
}

}  // namespace
}  // namespace convoy
