// The judge of forward results in device memory: every output again in f64, compared by the rule of
// the contract. A thread an output; the epilogue is an argument, so that a dtype compiles once.
#pragma once

#include "kernel/gpu/device/exact.h"
#include "kernel/gpu/judge/judge_args.h"

namespace convoy {

// What exact_sum() adds up here: the sum and the sum of magnitudes.
struct JudgedSum {
  double value, magnitude;
  CONVOY_DEVICE JudgedSum(int) : value(0), magnitude(0) {}  // NOLINT(google-explicit-constructor)
  CONVOY_DEVICE explicit JudgedSum(float v) : value(v), magnitude(absolute(value)) {}
};
CONVOY_DEVICE JudgedSum fused_multiply_add(const JudgedSum& a, const JudgedSum& b, JudgedSum sum) {
  sum.value = fused_multiply_add(a.value, b.value, sum.value);
  sum.magnitude = fused_multiply_add(a.magnitude, b.magnitude, sum.magnitude);
  return sum;
}

// Contract section 1 in f64; NaN stays NaN.
CONVOY_DEVICE double wide_relu6(double v) {
  return v < 0 ? 0 : v > 6 ? 6 : v;
}
CONVOY_DEVICE double wide_activate(Act act, double v) {
  switch (act) {
    case Act::kNone:
      return v;
    case Act::kRelu:
      return v < 0 ? 0 : v;
    case Act::kRelu6:
      return wide_relu6(v);
    case Act::kSilu:
      return v / (1 + exponential(-v));
    case Act::kGelu:
      return v / 2 * complementary_error_function(v * -0.70710678118654752440);
    case Act::kHardswish:
      return v * wide_relu6(v + 3) / 6;
  }
  return v;
}

template <Elem kElem>
CONVOY_DEVICE float judged_bias(const JudgeArgs& args, i64 k) {
  if (args.epilogue.bias == BiasKind::kNone) return 0;
  if (args.epilogue.bias == BiasKind::kF32) return bias_of<kElem, BiasKind::kF32>(args, k);
  return bias_of<kElem, BiasKind::kElement>(args, k);
}

// Output i of the order that the block walks, and its place in logical order.
CONVOY_DEVICE OutputIndex judged_output(const JudgeArgs& args, i64 i) {
  const IgemmSizes& s = args.sizes;
  OutputIndex at{};
  if (args.channels_last) {
    at.k = i % s.K;
    i /= s.K;
  }
  at.q = i % s.out[2];
  i /= s.out[2];
  at.p = i % s.out[1];
  i /= s.out[1];
  at.z = i % s.out[0];
  i /= s.out[0];
  if (!args.channels_last) {
    at.k = i % s.K;
    i /= s.K;
  }
  at.n = i;
  return at;
}
CONVOY_DEVICE u64 logical_index(const IgemmSizes& s, const OutputIndex& at) {
  return static_cast<u64>((((at.n * s.K + at.k) * s.out[0] + at.z) * s.out[1] + at.p) * s.out[2] +
                          at.q);
}

template <Elem kElem>
CONVOY_DEVICE Judgement judge_output(const JudgeArgs& args, const OutputIndex& at) {
  JudgedSum sum = exact_sum<kElem, JudgedSum>(args, at);
  const double bias = judged_bias<kElem>(args, at.k);
  sum.value += bias;
  sum.magnitude += absolute(bias);
  const i64(&y)[5] = args.sizes.y_stride;
  const double got =
      Element<kElem>::widen(read_only(static_cast<const Storage<kElem>*>(args.y) + at.n * y[0] +
                                      at.k * y[1] + at.z * y[2] + at.p * y[3] + at.q * y[4]));
  return judge(args.rule, got, wide_activate(args.epilogue.act, sum.value), sum.magnitude);
}

CONVOY_DEVICE void merge(JudgeFindings& into, const JudgeFindings& from) {
  if (from.max_abs_bits > into.max_abs_bits) into.max_abs_bits = from.max_abs_bits;
  if (from.max_rel_bits > into.max_rel_bits) into.max_rel_bits = from.max_rel_bits;
  if (from.first < into.first) into.first = from.first;
  into.failures += from.failures;
}

// Shared memory: kJudgeThreads * sizeof(JudgeFindings).
template <Elem kElem>
CONVOY_DEVICE void judge_outputs(const JudgeArgs& args) {
  const IgemmSizes& s = args.sizes;
  const i64 total = s.N * s.K * s.out[0] * s.out[1] * s.out[2];
  const i64 step = static_cast<i64>(kJudgeThreads) * block_count();
  JudgeFindings mine{};
  for (i64 i = static_cast<i64>(block_index()) * kJudgeThreads + thread_index(); i < total;
       i += step) {
    const OutputIndex at = judged_output(args, i);
    const Judgement found = judge_output<kElem>(args, at);
    JudgeFindings one{f64_bits(found.abs_err), f64_bits(found.rel_err), 0};
    if (!found.right) {
      one.failures = 1;
      one.first = logical_index(s, at);
    }
    merge(mine, one);
  }
  auto* all = shared_memory<JudgeFindings>();
  all[thread_index()] = mine;
  sync_block();
  if (thread_index() != 0) return;
  CONVOY_NO_UNROLL
  for (u32 t = 1; t < kJudgeThreads; ++t)
    merge(mine, all[t]);
  atomic_max(&args.findings->max_abs_bits, mine.max_abs_bits);
  atomic_max(&args.findings->max_rel_bits, mine.max_rel_bits);
  atomic_min(&args.findings->first, mine.first);
  atomic_add(&args.findings->failures, mine.failures);
}

}  // namespace convoy
