// The sums of grouped convolution and its gradients in f64, one output element at a time.
#pragma once

#include <convoy/problem.h>

#include <cmath>

#include "kernel/operand.h"

namespace convoy {

// A sum of products and the sum of their magnitudes, which bounds the rounding of any order.
struct Sum {
  double value = 0;
  double magnitude = 0;
  void add(double product) {
    value += product;
    magnitude += std::abs(product);
  }
};

// Where tap `f` of output `o` reads along axis d; outside [0, in) it reads padding and is skipped.
inline int64_t in_position(const ConvProblem& p, int d, int64_t o, int64_t f) {
  return o * p.stride[d] - p.pad_lo[d] + f * p.dilation[d];
}
inline bool inside(const ConvProblem& p, int d, int64_t i) {
  return i >= 0 && i < p.in[d];
}

// Calls f(t, r, s) for every tap of the filter.
template <class F>
void for_each_tap(const ConvProblem& p, F&& f) {
  for (int64_t t = 0; t < p.filter[0]; ++t) {
    for (int64_t r = 0; r < p.filter[1]; ++r) {
      for (int64_t s = 0; s < p.filter[2]; ++s)
        f(t, r, s);
    }
  }
}

// y[n,k,z,p,q] = sum over the group's channels and the taps inside the input of x * w.
template <class T>
Sum fprop_sum(const ConvProblem& p, const Operand<const T>& x, const Operand<const T>& w,
              const std::array<int64_t, 5>& at) {
  Sum sum;
  const auto [n, k, z, y, q] = at;
  const int64_t first_channel = k / p.kpg() * p.cpg();
  for_each_tap(p, [&](int64_t t, int64_t r, int64_t s) {
    const int64_t d = in_position(p, 0, z, t);
    const int64_t h = in_position(p, 1, y, r);
    const int64_t i = in_position(p, 2, q, s);
    if (!inside(p, 0, d) || !inside(p, 1, h) || !inside(p, 2, i)) return;
    for (int64_t c = 0; c < p.cpg(); ++c) {
      sum.add(to_f64(x.at(n, first_channel + c, d, h, i)) * to_f64(w.at(k, c, t, r, s)));
    }
  });
  return sum;
}

// The output position that reads input `i` through tap `f` along axis d, or -1.
inline int64_t out_position(const ConvProblem& p, int d, int64_t i, int64_t f) {
  const int64_t at = i + p.pad_lo[d] - f * p.dilation[d];
  if (at < 0 || at % p.stride[d] != 0 || at / p.stride[d] >= out_extent(p, d)) return -1;
  return at / p.stride[d];
}

// dx[n,c,d,h,w] = sum over the group's filters and the outputs that read this element of dy * w.
template <class T>
Sum dgrad_sum(const ConvProblem& p, const Operand<const T>& dy, const Operand<const T>& w,
              const std::array<int64_t, 5>& at) {
  Sum sum;
  const auto [n, c, d, h, i] = at;
  const int64_t first_filter = c / p.cpg() * p.kpg();
  for_each_tap(p, [&](int64_t t, int64_t r, int64_t s) {
    const int64_t z = out_position(p, 0, d, t);
    const int64_t y = out_position(p, 1, h, r);
    const int64_t q = out_position(p, 2, i, s);
    if (z < 0 || y < 0 || q < 0) return;
    for (int64_t k = 0; k < p.kpg(); ++k) {
      sum.add(to_f64(dy.at(n, first_filter + k, z, y, q)) *
              to_f64(w.at(first_filter + k, c % p.cpg(), t, r, s)));
    }
  });
  return sum;
}

// dw[k,c,t,r,s] = sum over batch and outputs of dy times the x that the tap reads.
template <class T>
Sum wgrad_sum(const ConvProblem& p, const Operand<const T>& x, const Operand<const T>& dy,
              const std::array<int64_t, 5>& at) {
  Sum sum;
  const auto [k, c, t, r, s] = at;
  const int64_t channel = k / p.kpg() * p.cpg() + c;
  for (int64_t n = 0; n < p.N; ++n) {
    for (int64_t z = 0; z < out_extent(p, 0); ++z) {
      const int64_t d = in_position(p, 0, z, t);
      if (!inside(p, 0, d)) continue;
      for (int64_t y = 0; y < out_extent(p, 1); ++y) {
        const int64_t h = in_position(p, 1, y, r);
        if (!inside(p, 1, h)) continue;
        for (int64_t q = 0; q < out_extent(p, 2); ++q) {
          const int64_t i = in_position(p, 2, q, s);
          if (!inside(p, 2, i)) continue;
          sum.add(to_f64(x.at(n, channel, d, h, i)) * to_f64(dy.at(n, k, z, y, q)));
        }
      }
    }
  }
  return sum;
}

// db[k] = sum of dy over batch and positions.
template <class T>
Sum db_sum(const ConvProblem& p, const Operand<const T>& dy, int64_t k) {
  Sum sum;
  for (int64_t n = 0; n < p.N; ++n) {
    for (int64_t z = 0; z < out_extent(p, 0); ++z) {
      for (int64_t y = 0; y < out_extent(p, 1); ++y) {
        for (int64_t q = 0; q < out_extent(p, 2); ++q)
          sum.add(to_f64(dy.at(n, k, z, y, q)));
      }
    }
  }
  return sum;
}

// Contract section 1; NaN stays NaN.
double activate(Activation activation, double v);

// v rounded once to nearest even.
template <class T>
T round_to(double v) {
  if constexpr (std::is_same_v<T, float>) {
    return static_cast<float>(v);
  } else {
    return T::from(v);
  }
}

// The shape of what a pass computes (y, dx or dw) as five extents.
std::array<int64_t, 5> result_extents(const ConvProblem& p);

}  // namespace convoy
