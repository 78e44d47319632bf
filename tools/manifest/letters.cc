// The letters that formulas may use, with their values for one problem.
#include "manifest/letters.h"

#include <algorithm>
#include <vector>

namespace convoy::manifest {
namespace {

constexpr char kIn[] = "DHW";
constexpr char kFilter[] = "TRS";
constexpr char kOut[] = "ZPQ";
constexpr char kAxis[] = "dhw";

// Marks every position that an output reads and counts the marks: slow, and too plain to be wrong.
int64_t read_positions(const ConvProblem& p, int d) {
  std::vector<char> read(p.in[d]);
  for (int64_t o = 0; o < out_extent(p, d); ++o) {
    for (int64_t tap = 0; tap < p.filter[d]; ++tap) {
      const int64_t i = o * p.stride[d] + tap * p.dilation[d] - p.pad_lo[d];
      if (i >= 0 && i < p.in[d]) read[i] = 1;
    }
  }
  return std::count(read.begin(), read.end(), 1);
}

}  // namespace

Letters stated_letters(const ConvProblem& p) {
  Letters out = {{"N", p.N}, {"C", p.C}, {"K", p.K}, {"G", p.G}};
  for (int d = p.first_axis(); d < 3; ++d) {
    const std::string axis(1, kAxis[d]);
    out[std::string(1, kIn[d])] = p.in[d];
    out[std::string(1, kFilter[d])] = p.filter[d];
    out["stride_" + axis] = p.stride[d];
    out["dil_" + axis] = p.dilation[d];
    out["pad_" + axis + "_begin"] = p.pad_lo[d];
    out["pad_" + axis + "_end"] = p.pad_hi[d];
  }
  return out;
}

Letters all_letters(const ConvProblem& p) {
  Letters out = stated_letters(p);
  out["cpg"] = p.cpg();
  out["kpg"] = p.kpg();
  out["size"] = size_of(p.dtype);
  out["bias_size"] = p.bias == BiasType::kNone ? 0 : size_of(bias_dtype(p));
  for (int d = p.first_axis(); d < 3; ++d) {
    out[std::string(1, kOut[d])] = out_extent(p, d);
    out[std::string("read_") + kAxis[d]] = read_positions(p, d);
  }
  return out;
}

Count count_loop_nest(const ConvProblem& p) {
  const auto& in = p.in;
  const auto& filter = p.filter;
  std::vector<char> x(p.N * p.C * in[0] * in[1] * in[2]);
  std::vector<char> w(p.K * p.cpg() * filter[0] * filter[1] * filter[2]);
  Count out;
  int64_t y = 0;
  const auto visit_taps = [&](int64_t n, int64_t k, int64_t z, int64_t pp, int64_t q) {
    for (int64_t c = 0; c < p.cpg(); ++c) {
      for (int64_t t = 0; t < filter[0]; ++t) {
        for (int64_t r = 0; r < filter[1]; ++r) {
          for (int64_t s = 0; s < filter[2]; ++s) {
            out.flops += 2;
            w[(((k * p.cpg() + c) * filter[0] + t) * filter[1] + r) * filter[2] + s] = 1;
            const int64_t d = z * p.stride[0] + t * p.dilation[0] - p.pad_lo[0];
            const int64_t h = pp * p.stride[1] + r * p.dilation[1] - p.pad_lo[1];
            const int64_t v = q * p.stride[2] + s * p.dilation[2] - p.pad_lo[2];
            if (d < 0 || d >= in[0] || h < 0 || h >= in[1] || v < 0 || v >= in[2]) continue;
            const int64_t channel = k / p.kpg() * p.cpg() + c;
            x[(((n * p.C + channel) * in[0] + d) * in[1] + h) * in[2] + v] = 1;
          }
        }
      }
    }
  };
  for (int64_t n = 0; n < p.N; ++n) {
    for (int64_t k = 0; k < p.K; ++k) {
      for (int64_t z = 0; z < out_extent(p, 0); ++z) {
        for (int64_t pp = 0; pp < out_extent(p, 1); ++pp) {
          for (int64_t q = 0; q < out_extent(p, 2); ++q, ++y)
            visit_taps(n, k, z, pp, q);
        }
      }
    }
  }
  const int64_t elements =
      std::count(x.begin(), x.end(), 1) + std::count(w.begin(), w.end(), 1) + y;
  const int64_t bias = p.bias == BiasType::kNone ? 0 : p.K * size_of(bias_dtype(p));
  out.bytes = elements * size_of(p.dtype) + bias;
  return out;
}

}  // namespace convoy::manifest
