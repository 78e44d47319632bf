// The reference's pieces by hand: activations, positions, adjoint gradients, float environment.
#include "kernel/reference/sums.h"

#include <convoy/convoy.h>
#include <gtest/gtest.h>

#include <cfenv>

#include "support/fill.h"
#include "support/oracle.h"
#include "support/problems.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace convoy {
namespace {

using test::expected_db;
using test::expected_result;
using test::Values;

TEST(Activate, FollowsItsFormulaAndKeepsNaN) {
  for (double v = -12; v <= 12; v += 0.125) {
    const double relu6 = std::fmin(std::fmax(v + 3, 0), 6);
    EXPECT_EQ(activate(Activation::kNone, v), v);
    EXPECT_EQ(activate(Activation::kRelu, v), v > 0 ? v : 0);
    EXPECT_EQ(activate(Activation::kRelu6, v), v < 0 ? 0 : v > 6 ? 6 : v);
    EXPECT_DOUBLE_EQ(activate(Activation::kSilu, v), v / (1 + std::exp(-v)));
    // 1 + erf cancels below 0; the reference uses erfc, which is the same number.
    EXPECT_NEAR(activate(Activation::kGelu, v), v / 2 * (1 + std::erf(v / std::sqrt(2.0))), 4e-15);
    EXPECT_DOUBLE_EQ(activate(Activation::kHardswish, v), v * relu6 / 6);
  }
  for (const Activation a : {Activation::kNone, Activation::kRelu, Activation::kRelu6,
                             Activation::kSilu, Activation::kGelu, Activation::kHardswish}) {
    EXPECT_TRUE(std::isnan(activate(a, std::nan("")))) << name(a);
    EXPECT_EQ(activate(a, HUGE_VAL), a == Activation::kRelu6 ? 6 : HUGE_VAL) << name(a);
  }
  // The formulas of the others give Inf/Inf or Inf*0.
  EXPECT_EQ(activate(Activation::kNone, -HUGE_VAL), -HUGE_VAL);
  EXPECT_EQ(activate(Activation::kRelu, -HUGE_VAL), 0);
  EXPECT_EQ(activate(Activation::kRelu6, -HUGE_VAL), 0);
  for (const Activation a : {Activation::kSilu, Activation::kGelu, Activation::kHardswish})
    EXPECT_TRUE(std::isnan(activate(a, -HUGE_VAL))) << name(a);
}

double dot(const std::vector<Sum>& a, const std::vector<double>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i)
    sum += a[i].value * b[i];
  return sum;
}

std::vector<double> numbers(test::Random& r, const Shape& shape) {
  int64_t count = 1;
  for (const int64_t size : shape.span())
    count *= size;
  std::vector<double> out(static_cast<size_t>(count));
  for (double& v : out)
    v = static_cast<double>(r.between(-3, 3));
  return out;
}

// <dy, conv(x, w)> = <dgrad(dy, w), x> = <wgrad(x, dy), w>: the gradients are the adjoints of
// fprop, so no sign, stride or group can be wrong in one of them alone.
TEST(Sums, GradientsAreAdjointToFprop) {
  int tried = 0;
  for (uint64_t seed = 0; tried < 300; ++seed) {
    test::Random r(seed);
    ConvProblem p = test::random_problem(r);
    if (flops(p) > 1 << 16) continue;
    ++tried;
    p.bias = BiasType::kNone;
    p.activation = Activation::kNone;
    const Values v{numbers(r, x_shape(p)), numbers(r, w_shape(p)), {}, numbers(r, y_shape(p))};
    const auto with = [&](Pass pass) {
      p.pass = pass;
      return expected_result(p, v);
    };
    const double forward = dot(with(Pass::kFprop), v.dy);
    ASSERT_EQ(dot(with(Pass::kDgrad), v.x), forward) << to_text(p);
    ASSERT_EQ(dot(with(Pass::kWgrad), v.w), forward) << to_text(p);
    double total = 0, bias = 0;
    for (const double d : v.dy)
      total += d;
    for (const Sum& s : expected_db(p, v))
      bias += s.value;
    ASSERT_EQ(bias, total) << to_text(p);
  }
}

// A run in the caller's worst float environment gives the bits of a run in the default one.
TEST(FloatEnvironment, OfTheCallerChangesNoBitOfAnyKernel) {
  for (const char* text : {"conv2d fprop f32 n1 c24 k24 g24 h9 w9 r3 s3 pad1 nhwc bias silu",
                           "conv2d fprop bf16 n1 c24 k24 g4 h9 w9 r3 s3 pad1 bias gelu",
                           "conv2d fprop f16 n1 c40 k24 h9 w9 r1 s1 nhwc",
                           "conv1d fprop f32 n1 c8 k8 g8 w40 s4 causal"}) {
    const ConvProblem p = *parse_problem(text);
    const auto make = [&](const Shape& shape, DType dtype, uint32_t rule) {
      test::Storage s(dtype, shape, test::packed_form(shape, p.layout));
      std::vector<double> values = test::fill(rule, 5, s.view().elements());
      for (double& v : values)
        v *= rule == 0 && dtype == DType::kF32 ? 0x1.234p-130 : 0.173;
      s.set(values);
      return s;
    };
    const auto x = make(x_shape(p), p.dtype, 0), w = make(w_shape(p), p.dtype, 1);
    const auto bias = make(bias_shape(p), bias_dtype(p), 2);
    for (const int threads : {1, 2}) {
      for (const KernelFacts& row : kernels()) {
        const Device here = *device();
        DeviceInfo info = here.info();
        info.threads = threads;
        const Result<Plan> chosen = plan(p, Device(info), {.kernel = row.name});
        if (!chosen) continue;
        const auto run = [&](bool hostile) {
          const test::Storage y(p.dtype, y_shape(p), test::packed_form(y_shape(p), p.layout));
          RunArgs args{.x = x.view(), .w = w.view(), .y = y.view()};
          if (p.bias != BiasType::kNone) args.bias = bias.view();
          if (hostile) {
            std::fesetround(FE_UPWARD);
#if defined(__x86_64__)
            _mm_setcsr(_mm_getcsr() | 0x8040);
#endif
          }
          const bool ok = chosen->run(args).ok();
#if defined(__x86_64__)
          _mm_setcsr(0x1f80);
#endif
          std::fesetround(FE_TONEAREST);
          EXPECT_TRUE(ok);
          return y.values();
        };
        EXPECT_EQ(run(true), run(false)) << text << " " << row.name << " " << threads;
      }
    }
  }
}

}  // namespace
}  // namespace convoy
