// The reference kernels of a GPU on the host: random problems and views of every pass.
#include "kernel/gpu/reference/reference.cuh"

#include <gtest/gtest.h>

#include "conformance/trial.h"
#include "kernel/gpu/entry_source.h"
#include "kernel/gpu/reference/reference.h"

namespace convoy::test {
namespace {

template <ReferenceConfig kConfig>
void launch(const ReferenceArgs& args) {
  emulator::run(2, kReferenceThreads, 0, [&] { reference<kConfig>(args); });
}

template <ReferencePass kPass, EpilogueKind kEpilogue>
void launch(const ConvProblem& p, const RunArgs& operands) {
  const ReferenceArgs args = reference_args(p, operands);
  switch (elem_of(p.dtype)) {
    case Elem::kF32:
      return launch<ReferenceConfig{Elem::kF32, kEpilogue, kPass}>(args);
    case Elem::kTf32:
      return launch<ReferenceConfig{Elem::kTf32, kEpilogue, kPass}>(args);
    case Elem::kF16:
      return launch<ReferenceConfig{Elem::kF16, kEpilogue, kPass}>(args);
    case Elem::kBf16:
      return launch<ReferenceConfig{Elem::kBf16, kEpilogue, kPass}>(args);
  }
}

template <ReferencePass kPass, BiasKind kBias, Act kAct>
int judge_draws(BiasType bias, Activation activation, uint64_t seed) {
  int judged = 0;
  for (uint64_t i = 0; i < 60; ++i) {
    Random r(seed + i);
    Question q = random_question(r, Isa::kBaseline);
    q.problem = for_pass(q.problem, static_cast<Pass>(kPass));
    if (flops(q.problem) > 1 << 18) continue;
    q.any_form = r.chance(0.7);
    q.problem.bias = bias;
    q.problem.activation = activation;
    const std::string fault = Answer(q).fault_after([&](const RunArgs& operands) {
      launch<kPass, EpilogueKind{kBias, kAct}>(q.problem, operands);
    });
    EXPECT_EQ(fault, "") << to_text(q.problem) << " seed " << seed + i;
    ++judged;
  }
  return judged;
}

TEST(GpuReference, ComputesOutputs) {
  const int judged = judge_draws<ReferencePass::kFprop, BiasKind::kF32, Act::kHardswish>(
      BiasType::kF32, Activation::kHardswish, 1000);
  EXPECT_GE(judged, 15);
}
TEST(GpuReference, ComputesInputGradients) {
  const int judged = judge_draws<ReferencePass::kDgrad, BiasKind::kNone, Act::kNone>(
      BiasType::kNone, Activation::kNone, 2000);
  EXPECT_GE(judged, 15);
}
TEST(GpuReference, ComputesWeightAndBiasGradients) {
  int judged = judge_draws<ReferencePass::kWgrad, BiasKind::kNone, Act::kNone>(
      BiasType::kNone, Activation::kNone, 3000);
  judged += judge_draws<ReferencePass::kWgrad, BiasKind::kF32, Act::kNone>(BiasType::kF32,
                                                                           Activation::kNone, 4000);
  EXPECT_GE(judged, 30);
}

}  // namespace
}  // namespace convoy::test
