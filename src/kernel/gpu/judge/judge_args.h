// The bound of contract section 2 on one output, as the host and device text apply it; the launch
// arguments of the judge and what it finds. Portable.
#pragma once

#include "kernel/gpu/device/conv_args.h"

namespace convoy {

// |y-ref| <= per_magnitude*(sum|x*w|+|b|) + u*|ref| + tiny; from `overflow` on rounding gives Inf.
struct JudgeRule {
  double per_magnitude, u, tiny, overflow;
};

struct Judgement {
  bool right;
  double abs_err, rel_err;  // infinite where y and the reference differ in kind
};

CONVOY_HD constexpr double absolute(double v) {
  return v < 0 ? -v : v;
}
CONVOY_HD constexpr bool is_finite(double v) {
  return v - v == 0;
}

CONVOY_HD constexpr Judgement judge(const JudgeRule& rule, double y, double ref, double magnitude) {
  constexpr double kLargestFloat = 0x1.fffffep127;
  constexpr double kInfinity = __builtin_bit_cast(double, u64{0x7ff} << 52);
  constexpr Judgement kWrongKind = {false, kInfinity, kInfinity};
  if (!is_finite(ref)) {
    const bool same = ref != ref ? y != y : y == ref;
    return same ? Judgement{true, 0, 0} : kWrongKind;
  }
  const double bound = rule.per_magnitude * magnitude + rule.u * absolute(ref) + rule.tiny;
  if (!is_finite(y)) {
    // Right where the exact result or a partial sum in f32 leaves the range.
    const bool overflows = absolute(ref) + bound >= rule.overflow && y * ref > 0;
    return overflows || magnitude >= kLargestFloat ? Judgement{true, 0, 0} : kWrongKind;
  }
  const double error = absolute(y - ref);
  return {error <= bound, error, ref != 0 ? error / absolute(ref) : 0};
}

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
