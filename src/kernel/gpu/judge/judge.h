// Judges forward results where they lie: the host half of judge.cuh.
#pragma once

#include <convoy/device.h>
#include <convoy/problem.h>
#include <convoy/run_args.h>

#include "kernel/gpu/judge/judge_args.h"

namespace convoy {

// The bound of contract section 2 on results stored as `result` that sum `products` products each.
JudgeRule judge_rule(const ConvProblem& p, DType result, int64_t products);

// Judges `operands.y`, in memory of `device`, where all work on it is complete. kUnavailable where
// the device has no run-time compiler.
Result<JudgeFindings> judge_on_device(const ConvProblem& p, const RunArgs& operands,
                                      const Device& device);

// What the judge is launched with; `findings` lies where the operands do.
JudgeArgs judge_args(const ConvProblem& p, const RunArgs& operands, JudgeFindings* findings);

}  // namespace convoy
