// The launch arguments of the judge and what it finds. Portable.
#pragma once

#include "kernel/gpu/device/conv_args.h"
#include "kernel/gpu/judge/judge_rule.h"

namespace convoy {

inline constexpr int kJudgeThreads = 128;

// Errors as the bits of an f64, which order non-negative numbers as they order themselves.
struct JudgeFindings {
  u64 max_abs_bits = 0, max_rel_bits = 0;
  u64 failures = 0;
  u64 first = ~u64{0};  // the least failing index in logical order (N,K,Z,P,Q)
};

struct JudgeArgs : ConvArgs {
  EpilogueKind epilogue;
  JudgeRule rule;
  bool channels_last;  // neighbouring threads walk K; otherwise Q
  JudgeFindings* findings;
};

}  // namespace convoy
