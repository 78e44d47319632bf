// Small problems of one rank and pass, legal and not, that separate right formulas from wrong ones.
#include "manifest/lattice.h"

#include <utility>

namespace convoy::manifest {
namespace {

ConvProblem centre(int rank, Pass pass) {
  ConvProblem p{.rank = rank, .pass = pass, .N = 2, .C = 4, .K = 6, .G = 2};
  for (int d = p.first_axis(); d < 3; ++d) {
    p.in[d] = 5 + 2 * d;
    p.filter[d] = 2 + d;
    p.stride[d] = 1 + d;
  }
  p.pad_lo[2] = 2;
  p.pad_hi[2] = 1;
  if (rank > 1) p.dilation[1] = 2;
  if (rank > 1) p.pad_hi[1] = 2;
  if (rank > 2) p.pad_lo[0] = 1;
  return p;
}

void vary_channels(const ConvProblem& base, std::vector<ConvProblem>& out) {
  ConvProblem p = base;
  for (p.N = -1; p.N <= 1; ++p.N) {
    for (const int64_t G : {-1, 0, 1, 2, 3, 4, 12}) {
      for (const int64_t C : {0, 1, 2, 4, 6, 12}) {
        for (const int64_t K : {0, 1, 2, 4, 6, 12}) {
          p.C = C;
          p.K = K;
          p.G = G;
          out.push_back(p);
        }
      }
    }
  }
}

void vary_axis(const ConvProblem& base, int d, std::vector<ConvProblem>& out) {
  constexpr std::pair<int64_t, int64_t> kPads[] = {{0, 0}, {1, 1}, {0, 2}, {3, 1}};
  ConvProblem p = base;
  for (const int64_t extent : {1, 2, 5, 8}) {
    for (const int64_t filter : {1, 2, 3, 5}) {
      for (const int64_t stride : {1, 2, 3}) {
        for (const int64_t dilation : {1, 2, 3}) {
          for (const auto& [lo, hi] : kPads) {
            p.in[d] = extent;
            p.filter[d] = filter;
            p.stride[d] = stride;
            p.dilation[d] = dilation;
            p.pad_lo[d] = lo;
            p.pad_hi[d] = hi;
            out.push_back(p);
          }
        }
      }
    }
  }
}

// One field outside its range at a time.
void break_axis(const ConvProblem& base, int d, std::vector<ConvProblem>& out) {
  for (auto field : {&ConvProblem::in, &ConvProblem::filter, &ConvProblem::stride,
                     &ConvProblem::dilation, &ConvProblem::pad_lo, &ConvProblem::pad_hi}) {
    for (const int64_t value : {-1, 0}) {
      ConvProblem p = base;
      (p.*field)[d] = value;
      out.push_back(p);
    }
  }
}

}  // namespace

std::vector<ConvProblem> lattice(int rank, Pass pass) {
  const ConvProblem base = centre(rank, pass);
  std::vector<ConvProblem> out;
  vary_channels(base, out);
  for (int d = base.first_axis(); d < 3; ++d) {
    vary_axis(base, d, out);
    break_axis(base, d, out);
  }
  return out;
}

}  // namespace convoy::manifest
