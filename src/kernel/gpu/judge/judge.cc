// Judges forward results where they lie: rules, arguments, launch.
#include "kernel/gpu/judge/judge.h"

#include <algorithm>

#include "base/int_math.h"
#include "jit/build.h"
#include "kernel/gpu/entry_source.h"
#include "launch/module.h"

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

namespace {

constexpr uint32_t kJudgeShared = kJudgeThreads * sizeof(JudgeFindings);
constexpr int64_t kBlocksPerMultiprocessor = 16;  // more blocks only add to the atomics at the end

Result<DeviceFunction> judge_function(const ConvProblem& p, const Device& device) {
  const Source source = entry_source("judge", {.header = "kernel/gpu/judge/judge.cuh",
                                               .function = "judge_outputs",
                                               .config = spell(elem_of(p.dtype)),
                                               .args = "JudgeArgs",
                                               .args_bytes = sizeof(JudgeArgs),
                                               .threads = kJudgeThreads,
                                               .blocks = 1});
  const Result<Module> module = build(device, source);
  if (!module) return module.status();
  return module->function(source.entry.c_str(), kJudgeShared);
}

}  // namespace

Result<JudgeFindings> judge_on_device(const ConvProblem& p, const RunArgs& operands,
                                      const Device& device) {
  JudgeFindings found;
  if (p.N == 0) return found;
  const Result<DeviceFunction> function = judge_function(p, device);
  if (!function) return function.status();
  const Result<Buffer> memory = Buffer::allocate(device, sizeof found);
  if (!memory) return memory.status();
  if (Status s = copy_bytes(device, memory->data(), &found, sizeof found); !s.ok()) return s;
  const JudgeArgs args = judge_args(p, operands, static_cast<JudgeFindings*>(memory->data()));
  const int64_t outputs = p.N * p.K * out_extent(p, 0) * out_extent(p, 1) * out_extent(p, 2);
  const int64_t most = std::max(1, device.info().multiprocessors) * kBlocksPerMultiprocessor;
  const LaunchShape shape{
      .blocks = static_cast<uint32_t>(std::min(most, ceil_div(outputs, kJudgeThreads))),
      .threads = kJudgeThreads,
      .shared_bytes = kJudgeShared};
  if (Status s = function->launch(shape, &args, sizeof args, {}); !s.ok()) return s;
  if (Status s = copy_bytes(device, &found, memory->data(), sizeof found); !s.ok()) return s;
  return found;
}

}  // namespace convoy
