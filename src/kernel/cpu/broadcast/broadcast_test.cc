// cpu_broadcast_fprop against the reference: every tier and tile, edges, poisoned values.
#include <gtest/gtest.h>

#include "base/str.h"
#include "kernel/cpu/kernel_test_util.h"

namespace convoy::test {
namespace {

constexpr const char* kKernel = "cpu_broadcast_fprop";

TEST(Broadcast, AgreesWithTheReferenceOnRandomProblems) {
  for (const Device& device : tier_devices()) {
    std::mt19937 random(17);
    for (unsigned i = 0; i < trials(1500); ++i) {
      Trial trial{.problem = random_problem(random),
                  .gaps = i % 3 == 1 ? Gaps::kRows : Gaps::kNone,
                  .values = i % 4 == 3 ? Values::kNonFinite : Values::kIntegers,
                  .seed = i};
      trial.problem.layout = Layout::kNhwc;
      ASSERT_EQ(compare_with_reference(trial, kKernel, device), "");
    }
  }
}

// One to four vectors of outputs, with and without lanes left over; widened chunks of channels.
TEST(Broadcast, AgreesWithTheReferenceInEveryTile) {
  for (const Device& device : tier_devices()) {
    for (const int w : {1, 5, 7, 13, 14, 29}) {
      for (const char* shape :
           {"c24 k12 g2 h3 r3 s3 pad1", "c20 k48 g2 h3 r1 s3 pad0x1", "c70 k50 h2 r1 s1 bias",
            "c9 k66 h4 r3 s3 stride2 pad1 gelu", "c32 k90 g2 h2 r1 s1 relu"}) {
        for (const char* dtype : {"f32", "f16"}) {
          const Result<ConvProblem> p =
              parse_problem(str("conv2d fprop ", dtype, " n2 w", w, " ", shape, " nhwc"));
          ASSERT_TRUE(p.ok()) << p.status().message();
          const Trial trial{.problem = *p, .values = Values::kNonFinite};
          ASSERT_EQ(compare_with_reference(trial, kKernel, device), "");
        }
      }
    }
  }
}

}  // namespace
}  // namespace convoy::test
