// The general device kernel on the host: random problems and views.
#include "kernel/gpu/general/general.cuh"

#include <gtest/gtest.h>

#include "conformance/trial.h"
#include "kernel/gpu/entry_source.h"

namespace convoy::test {
namespace {

template <Elem kElem, EpilogueKind kEpilogue>
void launch(const GeneralArgs& args, Layout layout) {
  const auto run = [&](auto kernel) {
    emulator::run(2, kGeneralThreads, 0, [&] { kernel(args); });
  };
  if (layout == Layout::kNhwc) {
    run([](const GeneralArgs& a) { general<GeneralConfig{kElem, kEpilogue, true}>(a); });
  } else {
    run([](const GeneralArgs& a) { general<GeneralConfig{kElem, kEpilogue, false}>(a); });
  }
}

template <EpilogueKind kEpilogue>
void launch(const ConvProblem& p, const RunArgs& operands, bool narrow) {
  GeneralArgs args = {};
  static_cast<ConvArgs&>(args) = conv_args(p, operands);
  args.narrow = narrow;
  switch (elem_of(p.dtype)) {
    case Elem::kF32:
      return launch<Elem::kF32, kEpilogue>(args, p.layout);
    case Elem::kTf32:
      return launch<Elem::kTf32, kEpilogue>(args, p.layout);
    case Elem::kF16:
      return launch<Elem::kF16, kEpilogue>(args, p.layout);
    case Elem::kBf16:
      return launch<Elem::kBf16, kEpilogue>(args, p.layout);
  }
}

template <BiasKind kBias, Act kAct>
int judge_draws(BiasType bias, Activation activation, uint64_t seed) {
  int judged = 0;
  for (uint64_t i = 0; i < 150; ++i) {
    Random r(seed + i);
    Question q = random_question(r, Isa::kBaseline);
    if (q.problem.pass != Pass::kFprop || flops(q.problem) > 1 << 20) continue;
    q.any_form = r.chance(0.7);
    q.problem.bias = bias;
    q.problem.activation = activation;
    const std::string fault = Answer(q).fault_after([&](const RunArgs& operands) {
      launch<EpilogueKind{kBias, kAct}>(q.problem, operands, i % 2 == 0);
    });
    EXPECT_EQ(fault, "") << to_text(q.problem) << " seed " << seed + i;
    ++judged;
  }
  return judged;
}

TEST(GpuGeneral, ServesRandomProblemsAndViews) {
  int judged = judge_draws<BiasKind::kNone, Act::kNone>(BiasType::kNone, Activation::kNone, 1000);
  judged += judge_draws<BiasKind::kF32, Act::kGelu>(BiasType::kF32, Activation::kGelu, 2000);
  judged += judge_draws<BiasKind::kF32, Act::kSilu>(BiasType::kF32, Activation::kSilu, 3000);
  EXPECT_GE(judged, 50);
}

}  // namespace
}  // namespace convoy::test
