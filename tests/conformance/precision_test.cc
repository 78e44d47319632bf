// Rounding that users met: F05, one step of the result's dtype at most, and F24a's f32.
#include <gtest/gtest.h>

#include <cmath>

#include "conformance/runs.h"
#include "support/devices.h"
#include "support/fill.h"

namespace convoy::test {
namespace {

std::vector<double> scaled(double factor, std::vector<double> values) {
  for (double& v : values)
    v *= factor;
  return values;
}

// The distance from |v| to the next number of the dtype.
double step_at(DType dtype, double v) {
  const int mantissa = mantissa_bits(dtype);
  const int least = dtype == DType::kF16 ? -14 : -126;
  const int exponent = v == 0 ? least : std::max(least, std::ilogb(v));
  return std::ldexp(1.0, exponent - mantissa);
}

TEST(Precision, DepthwiseIsWithinOneStepOfTheSum) {
  for (const DType dtype : {DType::kF16, DType::kBf16}) {
    for (const Layout layout : {Layout::kNchw, Layout::kNhwc}) {
      ConvProblem p = *parse_problem("conv2d fprop f16 n2 c32 k32 g32 h16 w16 r3 s3 pad1");
      p.dtype = dtype;
      p.layout = layout;
      const Values values{
          scaled(0.37, fill(0, 5, p.N * p.C * 256)), scaled(0.41, fill(1, 3, p.K * 9)), {}, {}};
      const auto expected = expected_result(p, Operands(p, values, {}).rounded());
      for (const Isa tier : tiers()) {
        for (const std::string& kernel : accepting(p, cpu_of(tier, 2))) {
          const Operands operands(p, values, {});
          ASSERT_TRUE(plan(p, cpu_of(tier, 2), {.kernel = kernel})->run(operands.args()).ok());
          const std::vector<double> got = operands.result().values();
          for (size_t i = 0; i < got.size(); ++i) {
            ASSERT_LE(std::abs(got[i] - expected[i].value), step_at(dtype, expected[i].value))
                << kernel << " " << name(tier) << " element " << i;
          }
        }
      }
    }
  }
}

TEST(Precision, StepIsTheGapBetweenNeighbours) {
  EXPECT_EQ(step_at(DType::kF16, 1.0), 0x1p-10);
  EXPECT_EQ(step_at(DType::kF16, -1.99), 0x1p-10);
  EXPECT_EQ(step_at(DType::kBf16, 4.0), 0x1p-5);
  EXPECT_EQ(step_at(DType::kF16, 0), 0x1p-24);
}

}  // namespace
}  // namespace convoy::test
