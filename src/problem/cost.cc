// What a problem costs: operations, and the bytes that must move at least once.
#include <convoy/problem.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/int_math.h"

namespace convoy {
namespace {

int64_t positions(const ConvProblem& p) {
  return out_extent(p, 0) * out_extent(p, 1) * out_extent(p, 2);
}

// Input positions of axis d inside [0, L) that some output reads: the union over taps r of the
// progressions r*dil - pad + o*stride. It is symmetric in (r, dil) and (o, stride), so the shorter
// side is walked; past 2^22 of both the whole axis counts as read.
int64_t touched(const ConvProblem& p, int d) {
  int64_t few = p.filter[d], few_step = p.dilation[d];
  int64_t many = out_extent(p, d), many_step = p.stride[d];
  if (few > many) {
    std::swap(few, many);
    std::swap(few_step, many_step);
  }
  if (few > (int64_t{1} << 22)) return p.in[d];
  std::vector<std::pair<int64_t, int64_t>> starts;  // residue, first index: sorted runs can merge
  starts.reserve(few);
  for (int64_t i = 0; i < few; ++i) {
    const int64_t first = i * few_step - p.pad_lo[d];
    const int64_t quotient = floor_div(first, many_step);
    starts.emplace_back(first - quotient * many_step, quotient);
  }
  std::sort(starts.begin(), starts.end());
  int64_t count = 0;
  int64_t residue = -1, next = 0;  // next: the first quotient of this residue not yet counted
  for (const auto& [r, first] : starts) {
    if (r != residue) next = 0;
    residue = r;
    if (r >= p.in[d]) continue;
    const int64_t lo = std::max({first, next, int64_t{0}});
    const int64_t hi = std::min(first + many - 1, (p.in[d] - 1 - r) / many_step);
    if (hi < lo) continue;
    count += hi - lo + 1;
    next = hi + 1;
  }
  return count;
}

}  // namespace

int64_t gemm_k(const ConvProblem& p) {
  return p.cpg() * p.filter[0] * p.filter[1] * p.filter[2];
}

int64_t flops(const ConvProblem& p) {
  return 2 * p.N * p.K * positions(p) * gemm_k(p);
}

int64_t bytes(const ConvProblem& p) {
  const int64_t x = p.N * p.C * touched(p, 0) * touched(p, 1) * touched(p, 2);
  const int64_t w = p.K * gemm_k(p);
  const int64_t y = p.N * p.K * positions(p);
  const int64_t bias = p.bias == BiasType::kNone ? 0 : p.K * size_of(bias_dtype(p));
  return size_of(p.dtype) * (x + w + y) + bias;
}

}  // namespace convoy
