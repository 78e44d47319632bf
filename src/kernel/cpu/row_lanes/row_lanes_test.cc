// cpu_row_lanes_fprop against the reference: every tier and tile, edges, poisoned values.
#include <gtest/gtest.h>

#include <cmath>

#include "base/str.h"
#include "kernel/cpu/kernel_test_util.h"

namespace convoy::test {
namespace {

constexpr const char* kKernel = "cpu_row_lanes_fprop";

TEST(RowLanes, AgreesWithTheReferenceOnRandomProblems) {
  for (const Device& device : tier_devices()) {
    std::mt19937 random(11);
    for (unsigned i = 0; i < trials(2000); ++i) {
      Trial trial{.problem = random_problem(random),
                  .gaps = i % 3 == 1 ? Gaps::kRows : Gaps::kNone,
                  .values = i % 4 == 3 ? Values::kNonFinite : Values::kIntegers,
                  .seed = i};
      trial.problem.layout = Layout::kNchw;
      ASSERT_EQ(compare_with_reference(trial, kKernel, device), "");
    }
  }
}

// Every width from 1 to 40 through the tiles that differ by width.
TEST(RowLanes, AgreesWithTheReferenceOnEveryWidth) {
  for (const Device& device : tier_devices()) {
    for (int w = 1; w <= 40; ++w) {
      for (const char* shape :
           {"c3 k3 g3 h9 r3 s3 pad1", "c2 k2 g2 h8 r3 s3 stride2 pad1", "c4 k18 g2 h5 r3 s3 pad1",
            "c6 k3 g3 h7 r5 s5 pad2", "c3 k9 g3 h3 r1 s1", "c2 k2 g2 h6 r3 s1 dil2 pad2x0"}) {
        for (const char* dtype : {"f32", "f16", "bf16"}) {
          const Result<ConvProblem> p =
              parse_problem(str("conv2d fprop ", dtype, " n2 w", w, " ", shape, " bias relu"));
          ASSERT_TRUE(p.ok()) << p.status().message();
          for (const Values values : {Values::kIntegers, Values::kNonFinite}) {
            const Trial trial{.problem = *p, .values = values, .seed = static_cast<unsigned>(w)};
            ASSERT_EQ(compare_with_reference(trial, kKernel, device), "");
          }
        }
      }
    }
  }
}

// Planes of 7 and 8 outputs, and their neighbours that take other tiles.
TEST(RowLanes, AgreesWithTheReferenceOnNarrowPlanes) {
  for (const Device& device : tier_devices()) {
    unsigned seed = 0;
    for (const int h : {6, 7, 8, 12, 13, 14, 15}) {
      for (const int w : {6, 7, 8, 12, 13, 14, 15}) {
        for (const char* shape : {"f32 n2 c19 k19 g19", "bf16 n1 c16 k16 g16"}) {
          for (const char* rest : {"pad1 bias relu6", "stride2 pad1 silu", "stride2 pad1 relu",
                                   "pad1", "pad2:0x2:0", "stride2 pad0:2x0:2"}) {
            const Result<ConvProblem> p =
                parse_problem(str("conv2d fprop ", shape, " h", h, " w", w, " r3 s3 ", rest));
            ASSERT_TRUE(p.ok()) << p.status().message();
            const Trial trial{.problem = *p,
                              .gaps = seed % 3 == 1 ? Gaps::kRows : Gaps::kNone,
                              .values = seed % 2 == 1 ? Values::kNonFinite : Values::kIntegers,
                              .seed = ++seed};
            ASSERT_EQ(compare_with_reference(trial, kKernel, device), "") << to_text(*p);
          }
        }
      }
    }
  }
}

TEST(RowLanes, AnInfiniteWeightOverPaddingLeavesTheEdgeFinite) {
  for (const Device& device : tier_devices()) {
    for (const int kpg : {1, 4}) {
      for (const int size : {7, 40}) {
        const ConvProblem p{.C = 2,
                            .K = 2 * kpg,
                            .G = 2,
                            .in = {1, size, size},
                            .filter = {1, 3, 3},
                            .pad_lo = {0, 1, 1},
                            .pad_hi = {0, 1, 1}};
        std::vector<float> x(2 * size * size, 1.0F), w(2 * kpg * 9, 1.0F), y(2 * kpg * size * size);
        for (int k = 0; k < 2 * kpg; ++k)
          w[k * 9] = HUGE_VALF;
        const Result<Plan> made = plan(p, device, {.kernel = kKernel});
        ASSERT_TRUE(made.ok());
        ASSERT_TRUE(made->run({.x = packed(x.data(), p.dtype, x_shape(p).span()),
                               .w = packed(w.data(), p.dtype, w_shape(p).span()),
                               .y = packed(y.data(), p.dtype, y_shape(p).span())})
                        .ok());
        for (int i = 0; i < static_cast<int>(y.size()); ++i) {
          const bool edge = i % size == 0 || i / size % size == 0;
          ASSERT_EQ(y[i] == HUGE_VALF, !edge) << i;
        }
      }
    }
  }
}

TEST(RowLanes, ThreadsAndTheBatchDoNotChangeBits) {
  const Result<Device> one = open_cpu({.threads = 1}), three = open_cpu({.threads = 3});
  for (const char* text : {"conv2d fprop f32 n3 c64 k64 h30 w300 r3 s3 pad1",
                           "conv2d fprop bf16 n3 c48 k48 g48 h40 w40 r5 s5 pad2"}) {
    const Trial trial{.problem = *parse_problem(text)};
    const std::vector<std::byte> bytes = output_bytes(trial, kKernel, *one);
    ASSERT_FALSE(bytes.empty());
    EXPECT_EQ(bytes, output_bytes(trial, kKernel, *three));
  }
}

TEST(RowLanes, DeclinesFiltersOfManyColumns) {
  const Result<Plan> made = plan(*parse_problem("conv1d fprop f32 n1 c1 k1 w500 s65"),
                                 tier_devices().back(), {.kernel = kKernel});
  ASSERT_FALSE(made.ok());
  EXPECT_NE(made.status().message().find("at most 64 columns"), std::string::npos);
}

}  // namespace
}  // namespace convoy::test
