// Extents, operations and bytes against the loop nest they stand for.
#include <convoy/problem.h>
#include <gtest/gtest.h>

#include <set>

#include "support/problems.h"

namespace convoy {
namespace {

struct Counted {
  int64_t macs = 0;
  int64_t outputs = 0;    // positions of one channel
  int64_t x_touched = 0;  // positions of one channel
};

// Positions along axis d that some output reads, and how many outputs there are, by trying all.
std::pair<std::set<int64_t>, int64_t> walk_axis(const ConvProblem& p, int d) {
  std::set<int64_t> read;
  int64_t outputs = 0;
  for (int64_t o = 0;; ++o) {
    const int64_t last = o * p.stride[d] - p.pad_lo[d] + (p.filter[d] - 1) * p.dilation[d];
    if (last >= p.in[d] + p.pad_hi[d]) break;
    ++outputs;
    for (int64_t f = 0; f < p.filter[d]; ++f) {
      const int64_t i = o * p.stride[d] - p.pad_lo[d] + f * p.dilation[d];
      if (i >= 0 && i < p.in[d]) read.insert(i);
    }
  }
  return {read, outputs};
}

TEST(Cost, ExtentsFlopsAndBytesCountTheLoops) {
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    test::Random r(seed);
    const ConvProblem p = test::random_problem(r);
    int64_t positions = 1, touched = 1;
    for (int d = 0; d < 3; ++d) {
      const auto [read, outputs] = walk_axis(p, d);
      ASSERT_EQ(out_extent(p, d), outputs) << to_text(p) << " axis " << d;
      positions *= outputs;
      touched *= static_cast<int64_t>(read.size());
    }
    const int64_t taps = p.filter[0] * p.filter[1] * p.filter[2];
    ASSERT_EQ(flops(p), 2 * p.N * p.K * positions * (p.C / p.G) * taps) << to_text(p);
    ASSERT_EQ(gemm_k(p), p.C / p.G * taps);
    const int64_t size = p.dtype == DType::kF32 || p.dtype == DType::kTf32 ? 4 : 2;
    const int64_t bias = p.bias == BiasType::kNone  ? 0
                         : p.bias == BiasType::kF32 ? 4 * p.K
                                                    : size * p.K;
    ASSERT_EQ(
        bytes(p),
        size * (p.N * p.C * touched + p.K * (p.C / p.G) * taps + p.N * p.K * positions) + bias)
        << to_text(p);
  }
}

// The loop nest itself, once: flops are not a formula of the formula.
TEST(Cost, FlopsAreTwoPerProductOfTheLoopNest) {
  const ConvProblem p = *parse_problem("conv2d fprop f32 n2 c6 k4 g2 h5 w7 r3 s2 stride2x1 pad1");
  int64_t products = 0;
  for (int64_t n = 0; n < 2; ++n) {
    for (int64_t k = 0; k < 4; ++k) {
      for (int64_t y = 0; y + 3 <= 5 + 2; y += 2) {
        for (int64_t x = 0; x + 2 <= 7 + 2; ++x)
          products += 3 * 3 * 2;
      }
    }
  }
  EXPECT_EQ(flops(p), 2 * products);
}

// F16
TEST(Cost, OutputSizesOfThePage) {
  struct Case {
    int64_t L, k, s, d, begin, end, out;
  };
  for (const Case& c :
       {Case{136, 3, 2, 3, 0, 0, 65}, Case{7, 3, 2, 1, 1, 1, 4}, Case{8, 3, 2, 1, 1, 1, 4},
        Case{5, 1, 2, 1, 0, 0, 3}, Case{6, 5, 1, 1, 2, 2, 6}, Case{5, 3, 2, 2, 0, 0, 1}}) {
    ConvProblem p{.rank = 1};
    p.in[2] = c.L;
    p.filter[2] = c.k;
    p.stride[2] = c.s;
    p.dilation[2] = c.d;
    p.pad_lo[2] = c.begin;
    p.pad_hi[2] = c.end;
    ASSERT_TRUE(validate(p).ok());
    EXPECT_EQ(out_extent(p, 2), c.out);
    EXPECT_EQ(y_shape(p).sizes[2], c.out);
  }
}

TEST(Cost, ShapesHaveThePyTorchOrder) {
  const ConvProblem p =
      *parse_problem("conv3d fprop bf16 n2 c6 k9 g3 d4 h5 w6 t1 r2 s3 nhwc bias:f32");
  const auto list = [](const Shape& s) {
    return std::vector<int64_t>(s.span().begin(), s.span().end());
  };
  EXPECT_EQ(list(x_shape(p)), (std::vector<int64_t>{2, 6, 4, 5, 6}));
  EXPECT_EQ(list(w_shape(p)), (std::vector<int64_t>{9, 2, 1, 2, 3}));
  EXPECT_EQ(list(y_shape(p)), (std::vector<int64_t>{2, 9, 4, 4, 4}));
  EXPECT_EQ(list(bias_shape(p)), (std::vector<int64_t>{9}));
  EXPECT_EQ(bias_dtype(p), DType::kF32);
}

TEST(Validate, RefusesAxesThatTheRankLacks) {
  ConvProblem p{.rank = 1};
  p.in[1] = 2;
  EXPECT_EQ(validate(p).code(), Code::kInvalid);
  EXPECT_NE(validate(p).message().find("axis h"), std::string::npos);
  p = {.rank = 4};
  EXPECT_NE(validate(p).message().find("rank 4"), std::string::npos);
}

TEST(Validate, HugeButCountableProblemsAreLegal) {
  EXPECT_TRUE(parse_problem("conv2d fprop f32 n1 c1 k1 h536870912 w536870912 r1 s1 stride4096"));
  EXPECT_TRUE(parse_problem("conv1d fprop f32 n1 c1 k1 w4611686018427387 s1"));
}

}  // namespace
}  // namespace convoy
