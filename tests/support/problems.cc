// Draws of problems: channels by flavour, then axes, then extents that fit the budget.
#include "support/problems.h"

#include <algorithm>

namespace convoy::test {
namespace {

// Multiply-adds: most draws are small, so that many can be made; the tail reaches whole tiles,
// several threads and long sums.
int64_t draw_budget(Random& r) {
  const double kind = r.unit();
  if (kind < 0.70) return r.log_between(1 << 5, 1 << 16);
  if (kind < 0.95) return r.log_between(1 << 16, 1 << 20);
  return r.log_between(1 << 20, 1 << 24);
}

struct Groups {
  int64_t G, cpg, kpg;
};

Groups draw_groups(Random& r, Flavour flavour, int64_t budget) {
  constexpr std::array<int64_t, 22> kCounts = {2,  3,  4,  5,  6,  7,  8,  11, 13, 16, 17,
                                               23, 24, 31, 32, 33, 37, 48, 64, 65, 96, 129};
  const auto count = [&](int64_t most) {
    return std::max<int64_t>(1, std::min(most, r.pick(kCounts)));
  };
  const int64_t most = std::max<int64_t>(2, budget / 16);
  switch (flavour) {
    case Flavour::kDepthwise:
      return {count(most), 1, 1};
    case Flavour::kMultiplier:
      return {count(most / 2), 1, r.between(2, 9)};
    case Flavour::kSmallGroups:
      return {count(most / 8), r.between(2, 8), r.pick({1, 2, 3, 4, 5, 6, 7, 8, 12, 16})};
    case Flavour::kWideGroups:
      return {r.between(2, 6), r.log_between(9, 96), r.log_between(1, 96)};
    case Flavour::kDense:
      return {1, r.log_between(1, 130), r.log_between(1, 130)};
    default: {
      const bool depthwise = r.chance(0.4);
      const int64_t G = depthwise ? count(most) : r.pick({1, 1, 2, 3, 4, 8});
      return {G, depthwise ? 1 : r.log_between(1, 24), depthwise ? 1 : r.log_between(1, 24)};
    }
  }
}

int draw_rank(Random& r, Flavour flavour) {
  if (flavour == Flavour::kCausal) return 1;
  if (flavour == Flavour::kTemporal) return 3;
  const double kind = r.unit();
  return kind < 0.2 ? 1 : kind < 0.8 ? 2 : 3;
}

int64_t draw_filter(Random& r, Flavour flavour, int rank) {
  if (flavour == Flavour::kPointwise) return 1;
  if (flavour == Flavour::kTemporal) return r.pick({1, 1, 2, 3, 3, 5});
  if (flavour == Flavour::kCausal) return r.pick({1, 2, 3, 4, 4, 5, 7, 8, 31, 64});
  if (flavour == Flavour::kHuge) return rank == 3 ? r.between(4, 7) : r.pick({7, 9, 11, 13, 31});
  return r.pick({1, 2, 3, 3, 3, 3, 4, 5, 5, 7});
}

void draw_axis(Random& r, Flavour flavour, ConvProblem& p, int d) {
  const bool edge = flavour == Flavour::kEdge;
  p.filter[d] = draw_filter(r, flavour, p.rank);
  p.stride[d] = r.pick(edge ? std::array<int64_t, 6>{1, 2, 3, 4, 5, 7}
                            : std::array<int64_t, 6>{1, 1, 1, 1, 2, 3});
  p.dilation[d] = r.pick({1, 1, 1, 1, 2, 3});
  const int64_t reach = p.dilation[d] * (p.filter[d] - 1);
  if (flavour == Flavour::kCausal) {
    p.pad_lo[d] = reach;
    return;
  }
  const int64_t most = edge ? reach + 3 : reach;
  const double kind = r.unit();
  if (kind < 0.5) {
    p.pad_lo[d] = p.pad_hi[d] = reach / 2;
  } else if (kind < 0.8) {
    p.pad_lo[d] = r.between(0, most);
    p.pad_hi[d] = r.between(0, most);
  }
}

// Axis d like axis 2.
void copy_axis(ConvProblem& p, int d) {
  p.filter[d] = p.filter[2];
  p.stride[d] = p.stride[2];
  p.dilation[d] = p.dilation[2];
  p.pad_lo[d] = p.pad_lo[2];
  p.pad_hi[d] = p.pad_hi[2];
}

// The smallest extent on which the filter fits.
int64_t least_in(const ConvProblem& p, int d) {
  return std::max<int64_t>(1, p.dilation[d] * (p.filter[d] - 1) + 1 - p.pad_lo[d] - p.pad_hi[d]);
}

int64_t macs(const ConvProblem& p) {
  return flops(p) / 2;
}

// Grows axes and batch from the smallest legal problem while it stays within the budget.
void draw_extents(Random& r, Flavour flavour, int64_t budget, ConvProblem& p) {
  for (int d = p.first_axis(); d < 3; ++d)
    p.in[d] = least_in(p, d);
  p.N = 1;
  const int64_t most = flavour == Flavour::kEdge ? 4 : p.rank == 1 ? 4096 : 160;
  for (int round = 0; round < 14; ++round) {
    ConvProblem next = p;
    const int d = static_cast<int>(r.between(p.first_axis(), 3));
    if (d == 3) {
      next.N = r.log_between(1, 9);
    } else {
      next.in[d] = std::max(next.in[d], r.log_between(1, most));
    }
    if (macs(next) <= budget &&
        next.N * next.C * next.in[0] * next.in[1] * next.in[2] <= 4 * budget + 4096) {
      p = next;
    }
  }
}

void draw_words(Random& r, ConvProblem& p) {
  p.dtype = r.pick({DType::kF32, DType::kF32, DType::kTf32, DType::kF16, DType::kBf16});
  p.layout = r.pick({Layout::kNchw, Layout::kNhwc});
  const double kind = r.unit();
  p.pass = kind < 0.84 ? Pass::kFprop : kind < 0.92 ? Pass::kDgrad : Pass::kWgrad;
  if (p.pass != Pass::kDgrad && r.chance(0.5)) {
    p.bias = r.pick({BiasType::kSame, BiasType::kF32});
  }
  if (p.pass == Pass::kFprop && r.chance(0.4)) {
    p.activation = r.pick({Activation::kRelu, Activation::kRelu, Activation::kRelu6,
                           Activation::kSilu, Activation::kGelu, Activation::kHardswish});
  }
}

}  // namespace

ConvProblem random_problem(Random& r, Flavour flavour) {
  ConvProblem p;
  p.rank = draw_rank(r, flavour);
  const int64_t budget = draw_budget(r);
  const Groups g = draw_groups(r, flavour, budget);
  p.G = g.G;
  p.C = g.G * g.cpg;
  p.K = g.G * g.kpg;
  // Half of the filters are square, as layers are and as kernels specialise for.
  const bool square = flavour != Flavour::kTemporal && r.chance(0.5);
  draw_axis(r, flavour, p, 2);
  for (int d = p.first_axis(); d < 2; ++d) {
    if (square) {
      copy_axis(p, d);
    } else {
      draw_axis(r, flavour, p, d);
    }
  }
  draw_extents(r, flavour, budget, p);
  draw_words(r, p);
  if (r.chance(0.005)) p.N = 0;
  // A filter too large for the budget keeps its channels and loses taps.
  while (macs(p) > (int64_t{1} << 24) || (macs(p) > 4 * budget && gemm_k(p) > 9 * p.cpg())) {
    int d = 2;
    for (int i = 0; i < 3; ++i) {
      if (p.filter[i] > p.filter[d]) d = i;
    }
    if (p.filter[d] == 1) return random_problem(r, Flavour::kDepthwise);
    p.filter[d] = (p.filter[d] + 1) / 2;
    p.in[d] = least_in(p, d);
  }
  return p;
}

ConvProblem redraw_sizes(Random& r, ConvProblem p) {
  const int64_t cpg = p.cpg(), kpg = p.kpg();
  const auto with_groups = [&](int64_t groups) {
    p.G = groups;
    p.C = groups * cpg;
    p.K = groups * kpg;
  };
  with_groups(1);
  for (int d = p.first_axis(); d < 3; ++d) {
    const int64_t reach = p.dilation[d] * (p.filter[d] - 1);
    const double kind = r.unit();
    p.pad_lo[d] = kind < 0.5 ? reach / 2 : kind < 0.8 ? r.between(0, reach + 2) : 0;
    p.pad_hi[d] = kind < 0.5 ? reach / 2 : kind < 0.8 ? r.between(0, reach + 2) : 0;
    p.in[d] = least_in(p, d);
  }
  p.N = 1;
  const int64_t budget = std::max(draw_budget(r), std::min<int64_t>(macs(p), 1 << 22));
  const int64_t most = std::max<int64_t>(1, budget / std::max<int64_t>(1, macs(p)));
  with_groups(std::min(
      most, r.pick({int64_t{1}, int64_t{2}, int64_t{3}, int64_t{5}, int64_t{8}, int64_t{16},
                    int64_t{32}, int64_t{33}, int64_t{64}, int64_t{96}, int64_t{130}})));
  draw_extents(r, r.chance(0.1) ? Flavour::kEdge : Flavour::kDense, budget, p);
  if (r.chance(0.005)) p.N = 0;
  return p;
}

ConvProblem random_problem(Random& r) {
  return random_problem(r, static_cast<Flavour>(r.between(0, kFlavours - 1)));
}

}  // namespace convoy::test
