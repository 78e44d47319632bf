// Operand checks: each mismatch is refused with what was given and what was expected.
#include "plan/operands.h"

#include <convoy/convoy.h>
#include <gtest/gtest.h>

namespace convoy {
namespace {

// Operands of a small legal call, each in its own memory, for a test to break one.
class OperandChecks : public testing::Test {
 protected:
  ConvProblem p_ = *parse_problem("conv1d fprop bf16 n2 c8 k8 g4 w9 s3 pad1 bias:f32");
  RunArgs args_{.x = view(x_, x_shape(p_), DType::kBf16),
                .w = view(w_, w_shape(p_), DType::kBf16),
                .bias = view(bias_, bias_shape(p_), DType::kF32),
                .y = view(y_, y_shape(p_), DType::kBf16)};

  static TensorView view(float* memory, const Shape& shape, DType dtype) {
    return packed(memory, dtype, shape.span());
  }
  void expect_refused(const std::string& words, const char* what) {
    const Status s = check_operands(p_, device()->info(), args_);
    EXPECT_EQ(s.code(), Code::kInvalid) << what;
    EXPECT_NE(s.message().find(words), std::string::npos) << what << ": " << s.message();
    EXPECT_EQ(s.message().find("plan run: "), 0U);
  }

  float x_[256], w_[256], bias_[16], y_[256];
};

TEST_F(OperandChecks, AcceptWhatTheProblemSays) {
  EXPECT_TRUE(check_operands(p_, device()->info(), args_).ok());
  args_.x.strides = {0, 0, 0};  // inputs may repeat
  EXPECT_TRUE(check_operands(p_, device()->info(), args_).ok());
}

TEST_F(OperandChecks, NameShapes) {
  args_.w.sizes[1] = 3;
  expect_refused("w has shape 8x3x3, expected 8x2x3", "F32, F33");
}

TEST_F(OperandChecks, NameRanks) {
  args_.w.rank = 2;
  expect_refused("w has shape 8x2, expected 8x2x3", "F33");
}

TEST_F(OperandChecks, NameBiasShapes) {  // F34
  for (const std::vector<int64_t>& sizes :
       {std::vector<int64_t>{1}, {2}, {7}, {9}, {8, 1}, {1, 8}}) {
    args_.bias = packed(bias_, DType::kF32, sizes);
    expect_refused("bias has shape " + shape_text(sizes) + ", expected 8", "F34");
  }
}

TEST_F(OperandChecks, NameDTypes) {  // F43
  args_.w.dtype = DType::kF16;
  expect_refused("w is f16, expected bf16", "F43b");
  args_.w.dtype = DType::kBf16;
  args_.bias.dtype = DType::kBf16;
  expect_refused("bias is bf16, expected f32", "F43a");
}

TEST_F(OperandChecks, NameDevices) {  // F43c
  args_.x.device = {Backend::kCuda, 0};
  expect_refused("x lies on another device", "F43c");
}

TEST_F(OperandChecks, NameMissingOperands) {
  args_.y = {};
  expect_refused("y is missing; pass a tensor of shape 2x8x9", "no y");
  args_.y = view(y_, y_shape(p_), DType::kBf16);
  args_.bias = {};
  expect_refused("bias is missing", "no bias");
  args_.bias = view(bias_, bias_shape(p_), DType::kF32);
  p_.bias = BiasType::kNone;
  expect_refused("bias was passed", "a bias that the problem lacks");
}

TEST_F(OperandChecks, NamePointers) {
  args_.x.data = nullptr;
  expect_refused("x has a null pointer", "null");
  args_.x.data = reinterpret_cast<std::byte*>(x_) + 1;
  expect_refused("x must be aligned to its elements of 2 bytes", "odd address");
}

TEST_F(OperandChecks, NameOverlap) {
  args_.y.data = x_;
  expect_refused("y overlaps x", "in place");
  args_.y.data = w_;
  expect_refused("y overlaps w", "over the weights");
  args_.y.data = y_;
  args_.y.strides[0] = 0;
  expect_refused("y writes one element twice", "stride 0");
}

TEST_F(OperandChecks, GradientsTakeTheirOwnOperands) {
  p_ = *parse_problem("conv1d dgrad bf16 n2 c8 k8 g4 w9 s3 pad1");
  expect_refused("dy is missing", "dgrad");
  args_.dy = args_.y;
  expect_refused("dx is missing", "dgrad");
  p_.pass = Pass::kWgrad;
  expect_refused("dw is missing", "wgrad");
  args_.db = view(bias_, bias_shape(p_), DType::kBf16);
  EXPECT_TRUE(check_operands(p_, device()->info(), args_).ok()) << "db alone is legal";
}

}  // namespace
}  // namespace convoy
