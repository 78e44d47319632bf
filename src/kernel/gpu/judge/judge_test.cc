// The judge's device text on the host: it agrees with convoy::check() on right and damaged results.
#include "kernel/gpu/judge/judge.cuh"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "conformance/trial.h"
#include "kernel/gpu/judge/judge.h"
#include "support/problems.h"

namespace convoy::test {
namespace {

JudgeFindings findings_of(const ConvProblem& p, const RunArgs& operands, uint64_t seed) {
  JudgeFindings found;
  const JudgeArgs args = judge_args(p, operands, &found);
  constexpr u32 kShared = kJudgeThreads * sizeof(JudgeFindings);
  const auto run = [&](auto body) { emulator::run(3, kJudgeThreads, kShared, body, seed); };
  if (p.dtype == DType::kF32) run([&] { judge_outputs<Elem::kF32>(args); });
  if (p.dtype == DType::kTf32) run([&] { judge_outputs<Elem::kTf32>(args); });
  if (p.dtype == DType::kF16) run([&] { judge_outputs<Elem::kF16>(args); });
  if (p.dtype == DType::kBf16) run([&] { judge_outputs<Elem::kBf16>(args); });
  return found;
}

// Both judges on the same operands.
void expect_agreement(const ConvProblem& p, const RunArgs& operands, uint64_t seed) {
  const Device host = *device();
  const CheckReport report = *check(p, operands, host);
  const JudgeFindings found = findings_of(p, operands, seed);
  ASSERT_EQ(found.failures == 0, report.ok) << to_text(p) << " seed " << seed;
  ASSERT_EQ(found.first == ~u64{0}, report.ok);
  const auto near = [](u64 bits, double want) {
    const double got = std::bit_cast<double>(bits);
    return got == want || std::abs(got - want) <= 1e-9 * std::abs(want) + 1e-280;
  };
  ASSERT_TRUE(near(found.max_abs_bits, report.max_abs_err)) << to_text(p) << " seed " << seed;
  ASSERT_TRUE(near(found.max_rel_bits, report.max_rel_err)) << to_text(p) << " seed " << seed;
}

// Sets logical element `index` of y.
void set_element(const TensorView& y, int64_t index, double value) {
  int64_t at = 0;
  for (int axis = y.rank; axis-- > 0;) {
    at += index % y.sizes[axis] * y.strides[axis];
    index /= y.sizes[axis];
  }
  if (y.dtype == DType::kF16) {
    static_cast<Half*>(y.data)[at] = Half::from(value);
  } else if (y.dtype == DType::kBf16) {
    static_cast<BFloat16*>(y.data)[at] = BFloat16::from(value);
  } else {
    static_cast<float*>(y.data)[at] = static_cast<float>(value);
  }
}

Question small_question(Random& r) {
  for (;;) {
    Question q = random_question(r, Isa::kBaseline);
    if (q.problem.pass == Pass::kFprop && flops(q.problem) < 1 << 17 && q.problem.N > 0) return q;
  }
}

TEST(Judge, AgreesWithTheHostOnRightResults) {
  for (uint64_t seed = 0; seed < 120; ++seed) {
    Random r(seed);
    const Question q = small_question(r);
    const Plan chosen = *plan(q.problem, *device());
    const std::string fault = Answer(q).fault_after([&](const RunArgs& operands) {
      ASSERT_TRUE(chosen.run(operands).ok());
      expect_agreement(q.problem, operands, seed);
      EXPECT_EQ(findings_of(q.problem, operands, seed).failures, 0U) << to_text(q.problem);
    });
    EXPECT_EQ(fault, "");
  }
}

TEST(Judge, FindsTheOneElementThatIsWrong) {
  for (uint64_t seed = 0; seed < 120; ++seed) {
    Random r(seed);
    Question q = small_question(r);
    q.non_finite = false;
    const Plan chosen = *plan(q.problem, *device());
    static_cast<void>(Answer(q).fault_after([&](const RunArgs& operands) {
      ASSERT_TRUE(chosen.run(operands).ok());
      const int64_t index = r.between(0, operands.y.elements() - 1);
      const double wrong = r.pick({std::nan(""), HUGE_VAL, -HUGE_VAL, 1e4, -1e4});
      set_element(operands.y, index, wrong);
      expect_agreement(q.problem, operands, seed);
      const JudgeFindings found = findings_of(q.problem, operands, seed);
      EXPECT_EQ(found.failures, 1U) << to_text(q.problem) << " seed " << seed;
      EXPECT_EQ(found.first, static_cast<u64>(index)) << to_text(q.problem) << " seed " << seed;
    }));
  }
}

// Poison in the inputs that the result does not show, and poison in the result alone.
TEST(Judge, NonFiniteMustMatchInKind) {
  ConvProblem p = *parse_problem("conv1d fprop f32 n1 c2 k1 w4 s1");
  float x[8] = {1, 2, 3, 4, 1, 1, 1, 1}, w[2] = {1, 0.5F}, y[4] = {1.5, 2.5, 3.5, 4.5};
  const RunArgs operands{.x = packed(x, p.dtype, x_shape(p).span()),
                         .w = packed(w, p.dtype, w_shape(p).span()),
                         .y = packed(y, p.dtype, y_shape(p).span())};
  const auto failures = [&] { return findings_of(p, operands, 1).failures; };
  EXPECT_EQ(failures(), 0U);
  x[0] = NAN;
  EXPECT_EQ(failures(), 1U);
  y[0] = NAN;
  EXPECT_EQ(failures(), 0U);
  x[0] = INFINITY;
  EXPECT_EQ(failures(), 1U);
  y[0] = INFINITY;
  EXPECT_EQ(failures(), 0U);
  x[0] = 1;
  EXPECT_EQ(failures(), 1U);
  EXPECT_EQ(findings_of(p, operands, 1).first, 0U);
}

}  // namespace
}  // namespace convoy::test
