// Activations in f64 and the extents of each pass's result.
#include "kernel/reference/sums.h"

#include <algorithm>

namespace convoy {

double activate(Activation activation, double v) {
  const auto relu6 = [](double u) { return std::isnan(u) ? u : std::min(std::max(u, 0.0), 6.0); };
  switch (activation) {
    case Activation::kNone:
      return v;
    case Activation::kRelu:
      return std::isnan(v) ? v : std::max(v, 0.0);
    case Activation::kRelu6:
      return relu6(v);
    case Activation::kSilu:
      return v / (1 + std::exp(-v));
    case Activation::kGelu:
      return v / 2 * std::erfc(-v / std::sqrt(2.0));  // 1 + erf cancels below 0
    case Activation::kHardswish:
      return v * relu6(v + 3) / 6;
  }
  return v;
}

std::array<int64_t, 5> result_extents(const ConvProblem& p) {
  if (p.pass == Pass::kDgrad) return {p.N, p.C, p.in[0], p.in[1], p.in[2]};
  if (p.pass == Pass::kWgrad) return {p.K, p.cpg(), p.filter[0], p.filter[1], p.filter[2]};
  return {p.N, p.K, out_extent(p, 0), out_extent(p, 1), out_extent(p, 2)};
}

}  // namespace convoy
