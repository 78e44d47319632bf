// Conv1d, Conv2d, Conv3d: values, bias, activation and the memory format of the result.
#include <convoy/convoy.h>
#include <gtest/gtest.h>

#include "support/fill.h"
#include "support/oracle.h"

namespace convoy {
namespace {

using test::fill;
using test::packed_form;
using test::Storage;

Storage tensor(DType dtype, std::initializer_list<int64_t> sizes, Layout layout,
               std::pair<uint32_t, uint32_t> rule) {
  Shape shape{.rank = static_cast<int>(sizes.size())};
  std::copy(sizes.begin(), sizes.end(), shape.sizes.begin());
  Storage out(dtype, shape, packed_form(shape, layout));
  out.set(fill(rule.first, rule.second, out.view().elements()));
  return out;
}

std::vector<double> values_of(const Tensor& t) {
  Shape shape{.sizes = t.view.sizes, .rank = t.view.rank};
  Storage wide(DType::kF32, shape, packed_form(shape, Layout::kNchw));
  EXPECT_TRUE(copy(t.view, wide.view()).ok());
  return wide.values();
}

double sum_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double v : values)
    sum += v;
  return sum;
}

TEST(Conv, KeepsTheMemoryFormatOfX) {  // F65
  const Conv2d conv({.padding = {4, 4}, .dilation = {2, 2}, .groups = 8});
  const Storage w = tensor(DType::kF32, {8, 1, 5, 5}, Layout::kNchw, {1, 3});
  for (const Layout layout : {Layout::kNchw, Layout::kNhwc}) {
    const Storage x = tensor(DType::kF32, {2, 8, 6, 7}, layout, {0, 5});
    const Result<Tensor> y = conv(x.view(), w.view());
    ASSERT_TRUE(y) << y.status().message();
    EXPECT_EQ(y->view.strides,
              packed(nullptr, DType::kF32, {x.view().sizes.data(), 4}, layout).strides);
    EXPECT_EQ(sum_of(values_of(*y)), 515);
  }
}

TEST(Conv, ChannelsLastIsReadFromTheStrides) {
  const Storage w = tensor(DType::kF32, {4, 4, 1, 1}, Layout::kNchw, {1, 3});
  const auto layout = [&](std::array<int64_t, 5> sizes, std::array<int64_t, 5> strides) {
    static float memory[4096];
    const TensorView x{.data = memory, .rank = 4, .sizes = sizes, .strides = strides};
    return problem_of<2>({}, x, w.view())->layout;
  };
  EXPECT_EQ(layout({1, 4, 5, 6}, {120, 1, 24, 4}), Layout::kNhwc);
  EXPECT_EQ(layout({1, 4, 5, 6}, {120, 30, 6, 1}), Layout::kNchw);
  EXPECT_EQ(layout({2, 4, 1, 1}, {4, 1, 4, 4}), Layout::kNchw) << "both fit: PyTorch's default";
  EXPECT_EQ(layout({1, 4, 5, 6}, {300, 1, 60, 7}), Layout::kNhwc) << "a slice of more channels";
  EXPECT_EQ(layout({1, 4, 5, 6}, {0, 30, 6, 1}), Layout::kNchw) << "n=1 may have any stride";
}

TEST(Conv, ServesEveryRankWithBiasAndActivation) {
  const Storage bias = tensor(DType::kF32, {6}, Layout::kNchw, {2, 2});
  const Storage x = tensor(DType::kF32, {1, 6, 4, 4}, Layout::kNchw, {0, 5});
  const Storage w = tensor(DType::kF32, {6, 2, 3, 3}, Layout::kNchw, {1, 3});
  const ConvOptions<2> plain{.padding = {1, 1}, .groups = 3};
  EXPECT_EQ(sum_of(values_of(*Conv2d(plain)(x.view(), w.view(), bias.view()))), 153);  // F63a
  ConvOptions<2> relu = plain;
  relu.activation = Activation::kRelu;
  EXPECT_EQ(sum_of(values_of(*Conv2d(relu)(x.view(), w.view(), bias.view()))), 749);  // F63b

  const Storage x1 = tensor(DType::kF16, {1, 64, 32}, Layout::kNchw, {0, 5});
  const Storage w1 = tensor(DType::kF16, {64, 1, 4}, Layout::kNchw, {1, 3});
  const Conv1d causal({.padding = {3}, .groups = 64, .padding_end = {0}});
  EXPECT_EQ(sum_of(values_of(*causal(x1.view(), w1.view()))), 197);  // F20

  const Storage x3 = tensor(DType::kBf16, {1, 4, 5, 6, 7}, Layout::kNhwc, {0, 5});
  const Storage w3 = tensor(DType::kBf16, {4, 2, 3, 3, 3}, Layout::kNchw, {1, 3});
  const Conv3d conv3({.stride = {1, 2, 2}, .padding = {0, 1, 2}, .groups = 2});
  EXPECT_EQ(sum_of(values_of(*conv3(x3.view(), w3.view()))), 44);  // F27a
}

TEST(Conv, PaddingEndFollowsPaddingUnlessSaid) {
  const ConvOptions<2> both{.padding = {1, 2}};
  EXPECT_EQ(both.padding_end, (std::array<int64_t, 2>{1, 2}));
  const Storage x = tensor(DType::kF32, {1, 2, 5, 6}, Layout::kNchw, {0, 5});
  const Storage w = tensor(DType::kF32, {4, 1, 3, 3}, Layout::kNchw, {1, 3});
  const ConvOptions<2> sides{.padding = {1, 2}, .groups = 2, .padding_end = {0, 3}};
  const Result<ConvProblem> p = problem_of<2>(sides, x.view(), w.view());
  EXPECT_EQ(to_text(*p), "conv2d fprop f32 n1 c2 k4 g2 h5 w6 r3 s3 pad1:0x2:3");
  EXPECT_EQ(sum_of(values_of(*Conv2d(sides)(x.view(), w.view()))), 23);  // F59
}

TEST(Conv, TheBiasMayStayInF32) {  // F43a
  const Storage x = tensor(DType::kBf16, {2, 8, 9}, Layout::kNchw, {0, 5});
  const Storage w = tensor(DType::kBf16, {8, 2, 3}, Layout::kNchw, {1, 3});
  const Conv1d conv({.padding = {1}, .groups = 4});
  for (const DType dtype : {DType::kF32, DType::kBf16}) {
    const Storage bias = tensor(dtype, {8}, Layout::kNchw, {2, 2});
    EXPECT_EQ(sum_of(values_of(*conv(x.view(), w.view(), bias.view()))), 49);
  }
  const Storage wrong = tensor(DType::kF16, {8}, Layout::kNchw, {2, 2});
  const Status s = conv(x.view(), w.view(), wrong.view()).status();
  EXPECT_NE(s.message().find("bias is f16 but input is bf16"), std::string::npos) << s.message();
}

TEST(Conv, OperandsOnTwoDevicesAreRefused) {
  const Storage x = tensor(DType::kF32, {1, 2, 5, 6}, Layout::kNchw, {0, 5});
  const Storage w = tensor(DType::kF32, {4, 1, 3, 3}, Layout::kNchw, {1, 3});
  TensorView far = w.view();
  far.device = {Backend::kCuda, 0};
  EXPECT_EQ(Conv2d({.groups = 2})(x.view(), far).status().code(), Code::kInvalid);
}

}  // namespace
}  // namespace convoy
