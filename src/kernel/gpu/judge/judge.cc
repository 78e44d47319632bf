// Judges forward results where they lie: rules, arguments, launch.
#include "kernel/gpu/judge/judge.h"

#include "kernel/gpu/entry_source.h"

namespace convoy {

JudgeRule judge_rule(const ConvProblem& p, DType result, int64_t products) {
  const double factor = p.activation == Activation::kNone ? 1.0 : 1.5;
  const double multiply = p.dtype == DType::kTf32 ? 0x1p-10 : 0.0;
  JudgeRule rule = {
      .per_magnitude = factor * (static_cast<double>(products + 2) * 0x1p-24 + multiply),
      .u = 0x1p-24,
      .tiny = 0x1p-149,
      .overflow = 0x1.ffffffp127};
  if (result == DType::kF16) rule.u = 0x1p-11, rule.tiny = 0x1p-24, rule.overflow = 65520.0;
  if (result == DType::kBf16) rule.u = 0x1p-8, rule.tiny = 0x1p-133, rule.overflow = 0x1.ffp127;
  return rule;
}

JudgeArgs judge_args(const ConvProblem& p, const RunArgs& operands, JudgeFindings* findings) {
  JudgeArgs args = {};
  static_cast<ConvArgs&>(args) = conv_args(p, operands);
  args.epilogue = epilogue_of(p);
  args.rule = judge_rule(p, p.dtype, gemm_k(p));
  args.channels_last = p.layout == Layout::kNhwc;
  args.findings = findings;
  return args;
}

}  // namespace convoy
