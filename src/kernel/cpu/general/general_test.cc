// cpu_general_fprop against the reference: every tier, any strides, poisoned values.
#include <gtest/gtest.h>

#include "kernel/cpu/kernel_test_util.h"

namespace convoy::test {
namespace {

constexpr const char* kKernel = "cpu_general_fprop";

TEST(General, AgreesWithTheReferenceOnRandomProblems) {
  for (const Device& device : tier_devices()) {
    std::mt19937 random(7);
    for (unsigned i = 0; i < trials(1000); ++i) {
      const Trial trial{.problem = random_problem(random),
                        .gaps = static_cast<Gaps>(i % 3),
                        .values = i % 4 == 3 ? Values::kNonFinite : Values::kIntegers,
                        .seed = i};
      ASSERT_EQ(compare_with_reference(trial, kKernel, device), "");
    }
  }
}

TEST(General, AcceptsEveryProblem) {
  std::mt19937 random(3);
  for (int i = 0; i < 200; ++i) {
    const Result<Plan> made =
        plan(random_problem(random), tier_devices().back(), {.kernel = kKernel});
    ASSERT_TRUE(made.ok());
    EXPECT_EQ(made->workspace_bytes(), 0U);
  }
}

TEST(General, ThreadsAndTheBatchDoNotChangeBits) {
  const Result<Device> one = open_cpu({.threads = 1}), three = open_cpu({.threads = 3});
  for (const char* text : {"conv2d fprop f32 n2 c64 k64 h30 w300 r3 s3 pad1",
                           "conv2d fprop bf16 n2 c48 k48 g48 h40 w40 r5 s5 pad2 nhwc"}) {
    Trial trial{.problem = *parse_problem(text)};
    const std::vector<std::byte> bytes = output_bytes(trial, kKernel, *one);
    ASSERT_FALSE(bytes.empty());
    EXPECT_EQ(bytes, output_bytes(trial, kKernel, *three));
  }
}

}  // namespace
}  // namespace convoy::test
