// The rows tile of depthwise layers: one output channel, neighbouring rows by v vectors of sums in
// registers; every loaded input row serves all output rows that it meets.
#pragma once

#include "kernel/cpu/row_lanes/row_lanes_block.h"

namespace convoy {
namespace {

// Rows that share the loads, for one and two vectors.
template <int kV>
inline constexpr int kTileRows = kV == 1 ? 7 : 4;

// What one input row adds: output row j takes it through filter row i - j * stride.
template <int kV, Step kStep, bool kMasked, bool kAll, class T>
inline void add_input_row(const RowLanesArgs& a, const TileLanes& m, const T* x, const float* w,
                          int64_t i, Vec (&sums)[kTileRows<kV>][kV]) {
  const int64_t R = a.filter[1];
  for (int64_t s = 0; s < a.filter[2]; ++s, x += a.dilation[2], w += a.w_stride[4]) {
    Vec xs[kV];
    TapLanes taps[kV];
    for (int v = 0; v < kV; ++v) {
      if constexpr (kMasked) taps[v] = m.column_taps[s][v];
      xs[v] = load_x<kStep, kMasked>(x + v * kLanes * a.stride[2], a.stride[2], taps[v]);
    }
    for (int j = 0; j < kTileRows<kV>; ++j) {
      const int64_t r = i - j * a.stride[1];
      if (!kAll && (r < 0 || r >= R)) continue;
      const Vec weight = set1(w[r * a.w_stride[3]]);
      for (int v = 0; v < kV; ++v) {
        sums[j][v] = kMasked ? fma(taps[v].lanes, weight, xs[v], sums[j][v])
                             : fma(weight, xs[v], sums[j][v]);
      }
    }
  }
}

template <int kV, Step kStep, bool kMasked, class T>
inline void add_rows(const RowLanesArgs& a, const TileLanes& m, const T* x, const float* w,
                     Range rows, Vec (&sums)[kTileRows<kV>][kV]) {
  const int64_t last = (kTileRows<kV> - 1) * a.stride[1];
  for (int64_t i = rows.lo; i < rows.hi; ++i) {
    const T* row = x + i * a.x_stride[3];
    if (i >= last && i < a.filter[1]) {
      add_input_row<kV, kStep, kMasked, true>(a, m, row, w, i, sums);
    } else {
      add_input_row<kV, kStep, kMasked, false>(a, m, row, w, i, sums);
    }
  }
}

// add_rows() of a 3x3 filter of equal strides: its weights stay in registers.
template <int kV, Step kStep, bool kMasked, class T>
inline void add_rows_3x3(const RowLanesArgs& a, const TileLanes& m, const T* x, const float* w,
                         Range rows, Vec (&sums)[kTileRows<kV>][kV]) {
  constexpr int kStride = kStep == Step::kOne ? 1 : 2, kRows = kTileRows<kV>;
  Vec weights[3][3];
  TapLanes taps[3][kV];
  for (int s = 0; s < 3; ++s) {
    for (int r = 0; r < 3; ++r)
      weights[r][s] = set1(w[r * a.w_stride[3] + s * a.w_stride[4]]);
    for (int v = 0; v < kV; ++v) {
      if constexpr (kMasked) taps[s][v] = m.column_taps[s][v];
    }
  }
#pragma GCC unroll 20
  for (int i = 0; i < (kRows - 1) * kStride + 3; ++i) {
    if (i < rows.lo || i >= rows.hi) continue;
    const T* row = x + i * a.x_stride[3];
#pragma GCC unroll 3
    for (int s = 0; s < 3; ++s) {
      for (int v = 0; v < kV; ++v) {
        const Vec xs = load_x<kStep, kMasked>(row + s + v * kLanes * kStride, kStride, taps[s][v]);
#pragma GCC unroll 8
        for (int j = 0; j < kRows; ++j) {
          const int r = i - j * kStride;
          if (r < 0 || r > 2) continue;
          sums[j][v] = kMasked ? fma(taps[s][v].lanes, weights[r][s], xs, sums[j][v])
                               : fma(weights[r][s], xs, sums[j][v]);
        }
      }
    }
  }
}

// `count` output rows; t.rows are the input rows of the tile that lie inside, from tap row 0 on.
template <int kV, Step kStep, bool kMasked, class T>
void rows_tile(const RowLanesArgs& a, const TileLanes& m, const Tile<T>& t, int count) {
  constexpr int kRows = kTileRows<kV>;
  Vec sums[kRows][kV];
  for (int j = 0; j < kRows; ++j) {
    for (int v = 0; v < kV; ++v)
      sums[j][v] = zero();
  }
  const bool three = a.filter[1] == 3 && a.filter[2] == 3 && a.dilation[2] == 1 &&
                     a.stride[1] == (kStep == Step::kOne ? 1 : 2);
  for (int64_t c = 0; c < a.cpg; ++c) {
    for (int64_t d = t.depth.lo; d < t.depth.hi; ++d) {
      const T* x = t.x + c * a.x_stride[1] + d * a.dilation[0] * a.x_stride[2];
      const float* w = t.w + c * a.w_stride[1] + d * a.w_stride[2];
      if (three) {
        add_rows_3x3<kV, kStep, kMasked>(a, m, x, w, t.rows, sums);
      } else {
        add_rows<kV, kStep, kMasked>(a, m, x, w, t.rows, sums);
      }
    }
  }
  const Vec bias = set1(bias_at<T>(a.epilogue, t.k));
  for (int j = 0; j < kRows; ++j) {
    if (j >= count) break;
    for (int v = 0; v < kV; ++v)
      store_y<kMasked>(a, m, v, t.y + j * a.y_stride[3] + v * kLanes, sums[j][v], bias);
  }
}

template <Step kStep, class T>
inline void rows_tile_masks(const RowLanesArgs& a, const TileLanes& m, const Tile<T>& t,
                            int count) {
  if (m.vectors == 1) {
    if (m.masked) return rows_tile<1, kStep, true>(a, m, t, count);
    return rows_tile<1, kStep, false>(a, m, t, count);
  }
  if (m.masked) return rows_tile<2, kStep, true>(a, m, t, count);
  rows_tile<2, kStep, false>(a, m, t, count);
}

}  // namespace
}  // namespace convoy
