// The rolling tile of 2D depthwise 3x3 filters: the weights stay in registers, every input row is
// loaded once and added to the sums of the output rows that are open at that moment.
#pragma once

#include "kernel/cpu/row_lanes/row_lanes_loads.h"

namespace convoy {
namespace {

// Two vectors: six masks fit the seven mask registers. Four lost (12 masks go through the stack):
// 41 % of the arithmetic peak on 32x112x112 against 53 % of two on 192x28x28, one Xeon core.
constexpr int kMaxRolling = 2;

template <int kV>
struct Rolling {
  Vec weights[3][3];
  TapLanes taps[3][kV];
};

// Adds row r of the filter, for r from kFirst down, to the sums of the rows that have it open.
template <int kV, Step kStep, bool kMasked, int kFirst, int kStepR, int kRows, class T>
inline void roll_row(const Rolling<kV>& f, const T* x, Vec (&sums)[kRows][kV]) {
  constexpr int kStride = kStep == Step::kOne ? 1 : 2;
  for (int s = 0; s < 3; ++s) {
    for (int v = 0; v < kV; ++v) {
      const Vec xs = load_x<kStep, kMasked>(x + s + v * kLanes * kStride, kStride, f.taps[s][v]);
      for (int j = 0; j < kRows; ++j) {
        const int r = kFirst - j * kStepR;
        if (r < 0 || r > 2) continue;
        sums[j][v] = kMasked ? fma(f.taps[s][v].lanes, f.weights[r][s], xs, sums[j][v])
                             : fma(f.weights[r][s], xs, sums[j][v]);
      }
    }
  }
}

// Output rows [0, count) of one channel; x is what tap (0,0) of the first reads, which lies in
// input row h0.
template <int kV, Step kStep, bool kMasked, bool kFar, class T>
[[gnu::noinline]] void rolling_tile(const RowLanesArgs& a, const TileLanes& m, const T* x,
                                    const float* w, T* y, int64_t h0, int64_t count, float bias) {
  Rolling<kV> f;
  for (int s = 0; s < 3; ++s) {
    for (int r = 0; r < 3; ++r)
      f.weights[r][s] = set1(w[r * a.w_stride[3] + s * a.w_stride[4]]);
    for (int v = 0; v < kV; ++v) {
      if constexpr (kMasked) f.taps[s][v] = m.column_taps[s][v];
    }
  }
  const int64_t H = a.in[1], x_row = a.x_stride[3], y_row = a.y_stride[3];
  const auto inside = [H](int64_t h) { return h >= 0 && h < H; };
  constexpr int kOpen = kStep == Step::kOne ? 3 : 2;
  Vec sums[kOpen][kV];
  for (auto& row : sums) {
    for (Vec& sum : row)
      sum = zero();
  }
  const auto close_row = [&] {
    for (int v = 0; v < kV; ++v) {
      store_y<kMasked, kFar>(a, m, v, y + v * kLanes, sums[0][v], bias);
      for (int j = 0; j + 1 < kOpen; ++j)
        sums[j][v] = sums[j + 1][v];
      sums[kOpen - 1][v] = zero();
    }
    y += y_row;
  };
  if constexpr (kStep == Step::kOne) {
    // Two rows open the first output row and the second.
    Vec first[2][kV];
    for (auto& row : first) {
      for (Vec& sum : row)
        sum = zero();
    }
    if (inside(h0)) roll_row<kV, kStep, kMasked, 0, 1>(f, x, first);
    if (inside(h0 + 1)) roll_row<kV, kStep, kMasked, 1, 1>(f, x + x_row, first);
    for (int v = 0; v < kV; ++v) {
      sums[0][v] = first[0][v];
      sums[1][v] = first[1][v];
    }
    x += 2 * x_row;
    for (int64_t h = h0 + 2; h < h0 + 2 + count; ++h, x += x_row) {
      if (inside(h)) roll_row<kV, kStep, kMasked, 2, 1>(f, x, sums);
      close_row();
    }
  } else {
    if (inside(h0)) roll_row<kV, kStep, kMasked, 0, 2>(f, x, sums);
    for (int64_t h = h0 + 1; count > 0; --count, h += 2, x += 2 * x_row) {
      if (inside(h)) roll_row<kV, kStep, kMasked, 1, 2>(f, x + x_row, sums);
      if (inside(h + 1)) roll_row<kV, kStep, kMasked, 2, 2>(f, x + 2 * x_row, sums);
      close_row();
    }
  }
}

template <int kV, Step kStep, class T>
inline void rolling_tile_masks(const RowLanesArgs& a, const TileLanes& m, const T* x,
                               const float* w, T* y, int64_t h0, int64_t count, float bias) {
  if constexpr (kV > 1) {
    if (!m.masked) return rolling_tile<kV, kStep, false, false>(a, m, x, w, y, h0, count, bias);
  }
  if (is_far(a.epilogue.activation))
    return rolling_tile<kV, kStep, true, true>(a, m, x, w, y, h0, count, bias);
  rolling_tile<kV, kStep, true, false>(a, m, x, w, y, h0, count, bias);
}

template <Step kStep, class T>
inline void rolling_tile_vectors(const RowLanesArgs& a, const TileLanes& m, const T* x,
                                 const float* w, T* y, int64_t h0, int64_t count, float bias) {
  if (m.vectors == 2) return rolling_tile_masks<2, kStep>(a, m, x, w, y, h0, count, bias);
  rolling_tile_masks<1, kStep>(a, m, x, w, y, h0, count, bias);
}

}  // namespace
}  // namespace convoy
