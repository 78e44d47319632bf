// cpu_channel_lanes_fprop against the reference: every tier and tile, edges, poisoned values.
#include <gtest/gtest.h>

#include "base/str.h"
#include "kernel/cpu/kernel_test_util.h"

namespace convoy::test {
namespace {

constexpr const char* kKernel = "cpu_channel_lanes_fprop";

TEST(ChannelLanes, AgreesWithTheReferenceOnRandomProblems) {
  for (const Device& device : tier_devices()) {
    std::mt19937 random(13);
    for (unsigned i = 0; i < trials(2000); ++i) {
      Trial trial{.problem = random_problem(random),
                  .gaps = i % 3 == 1 ? Gaps::kRows : Gaps::kNone,
                  .values = i % 4 == 3 ? Values::kNonFinite : Values::kIntegers,
                  .seed = i};
      trial.problem.layout = Layout::kNhwc;
      if (!plan(trial.problem, device, {.kernel = kKernel})) continue;  // wide groups
      ASSERT_EQ(compare_with_reference(trial, kKernel, device), "");
    }
  }
}

// Widths that roll (multiples of 7), pair, leave tails, and are cut into segments; odd and even
// rows.
TEST(ChannelLanes, AgreesWithTheReferenceInEveryTile) {
  for (const Device& device : tier_devices()) {
    for (const int w : {1, 6, 7, 8, 13, 14, 15, 20, 21, 32, 63, 120}) {
      for (const char* shape :
           {"c35 k35 g35 h7 r3 s3 pad1", "c16 k16 g16 h4 r3 s3 pad1:0x0:1 relu6",
            "c20 k20 g20 h6 r5 s5 pad2", "c17 k17 g17 h5 r7 s7 pad3 silu",
            "c18 k18 g18 h9 r3 s3 stride2 pad1", "c12 k24 g12 h5 r3 s3 pad1 bias",
            "c24 k24 g6 h5 r3 s3 pad1", "c15 k25 g5 h4 r3 s3 pad1", "c4 k40 g2 h3 r1 s1"}) {
        for (const char* dtype : {"f32", "bf16"}) {
          const Result<ConvProblem> p =
              parse_problem(str("conv2d fprop ", dtype, " n2 w", w + 8, " ", shape, " nhwc"));
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

// Threads decide the bands, chunks and segments; the last two problems outgrow L2.
TEST(ChannelLanes, ThreadsDoNotChangeBits) {
  const Result<Device> one = open_cpu({.threads = 1}), many = open_cpu({.threads = 5});
  for (const char* text : {"conv2d fprop f32 n1 c48 k48 g48 h21 w28 r3 s3 pad1 nhwc",
                           "conv2d fprop bf16 n2 c40 k40 g40 h23 w30 r5 s5 pad2 nhwc",
                           "conv1d fprop f32 n1 c32 k32 g32 w9000 s4 causal nhwc",
                           "conv2d fprop f32 n5 c96 k96 g96 h56 w56 r3 s3 pad1 nhwc",
                           "conv2d fprop f32 n5 c100 k100 g100 h77 w77 r3 s3 stride2 nhwc"}) {
    const Trial trial{.problem = *parse_problem(text)};
    const std::vector<std::byte> bytes = output_bytes(trial, kKernel, *one);
    ASSERT_FALSE(bytes.empty());
    EXPECT_EQ(bytes, output_bytes(trial, kKernel, *many)) << text;
  }
}

}  // namespace
}  // namespace convoy::test
