// check(): what the bound accepts and what it must refuse, element by element.
#include <convoy/convoy.h>
#include <gtest/gtest.h>

#include <cmath>

namespace convoy {
namespace {

class CheckTest : public testing::Test {
 protected:
  ConvProblem p_ = *parse_problem("conv1d fprop f32 n1 c2 k1 w4 s1");
  float x_[8] = {1, 2, 3, 4, 1, 1, 1, 1}, w_[2] = {1, 0.5F}, y_[4] = {1.5, 2.5, 3.5, 4.5};

  CheckReport report() {
    const RunArgs args{.x = packed(x_, p_.dtype, x_shape(p_).span()),
                       .w = packed(w_, p_.dtype, w_shape(p_).span()),
                       .y = packed(y_, p_.dtype, y_shape(p_).span())};
    return *check(p_, args, *device());
  }
};

TEST_F(CheckTest, TheExactResultHasNoError) {
  EXPECT_TRUE(report().ok);
  EXPECT_EQ(report().max_abs_err, 0);
}

TEST_F(CheckTest, ErrorsAreMeasured) {
  y_[2] = 3.75;
  EXPECT_FALSE(report().ok);
  EXPECT_EQ(report().max_abs_err, 0.25);
  EXPECT_DOUBLE_EQ(report().max_rel_err, 0.25 / 3.5);
}

// |y-ref| <= (gemm_k+2)*2^-24 * sum|x*w| + 2^-24*|ref|: 5 * 3.5 * 2^-24 here, which is 4.4 steps.
TEST_F(CheckTest, TheBoundIsTheContracts) {
  y_[2] = 3.5F + 4 * 0x1p-22F;
  EXPECT_TRUE(report().ok);
  y_[2] = 3.5F + 5 * 0x1p-22F;
  EXPECT_FALSE(report().ok);
  p_.dtype = DType::kTf32;
  EXPECT_TRUE(report().ok) << "tf32 may lose 2^-10";
  y_[2] = 3.5F * (1 + 0x1p-9F);
  EXPECT_FALSE(report().ok);
}

TEST_F(CheckTest, NonFiniteMustMatchInKind) {
  y_[0] = NAN;
  EXPECT_FALSE(report().ok);
  x_[0] = NAN;
  EXPECT_TRUE(report().ok);
  y_[0] = INFINITY;
  EXPECT_FALSE(report().ok);
  x_[0] = INFINITY;
  EXPECT_TRUE(report().ok);
  y_[0] = -INFINITY;
  EXPECT_FALSE(report().ok);
  y_[0] = 1;
  EXPECT_FALSE(report().ok);
}

TEST_F(CheckTest, GradientsAreJudgedToo) {
  p_ = *parse_problem("conv1d wgrad f32 n1 c2 k1 w4 s1");
  float dy[4] = {1, 1, 1, 1}, dw[2] = {10, 4}, db[1] = {4};
  RunArgs args{.x = packed(x_, p_.dtype, x_shape(p_).span()),
               .dy = packed(dy, p_.dtype, y_shape(p_).span()),
               .dw = packed(dw, p_.dtype, w_shape(p_).span()),
               .db = packed(db, p_.dtype, bias_shape(p_).span())};
  EXPECT_TRUE(check(p_, args, *device())->ok);
  db[0] = 5;
  EXPECT_FALSE(check(p_, args, *device())->ok);
  db[0] = 4;
  dw[1] = 5;
  EXPECT_FALSE(check(p_, args, *device())->ok);
}

}  // namespace
}  // namespace convoy
