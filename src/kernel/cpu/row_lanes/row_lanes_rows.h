// The rows tile of depthwise layers: one output channel, neighbouring rows by v
// vectors of sums in registers; every loaded input row serves all output rows
// that it meets.
#pragma once

#include "kernel/cpu/row_lanes/row_lanes_block.h"

namespace convoy {
namespace {

// Rows that share the loads, for one and two vectors.
template <int kV>
inline constexpr int kTileRows = kV == 1 ? 7 : 4;

// What one input row adds to the output rows [kLo, kHi]: row j takes it through
// filter row i - j * stride.
template <int kLo, int kHi, int kV, Step kStep, bool kMasked, class T>
inline void add_input_row(const RowLanesArgs& a, const TileLanes& m, const T* x, const float* w,
                          int64_t i, Vec (&sums)[kTileRows<kV>][kV]) {
  w += (i - kLo * a.stride[1]) * a.w_stride[3];
  const int64_t next = -a.stride[1] * a.w_stride[3];
  for (int64_t s = 0; s < a.filter[2]; ++s, x += a.dilation[2], w += a.w_stride[4]) {
    Vec xs[kV];
    TapLanes taps[kV];
    for (int v = 0; v < kV; ++v) {
      if constexpr (kMasked) taps[v] = m.column_taps[s][v];
      xs[v] = load_x<kStep, kMasked>(x + v * kLanes * a.stride[2], a.stride[2], taps[v]);
    }
    for (int j = kLo; j <= kHi; ++j) {
      const Vec weight = set1(w[(j - kLo) * next]);
      for (int v = 0; v < kV; ++v) {
        sums[j][v] = kMasked ? fma(taps[v].lanes, weight, xs[v], sums[j][v])
                             : fma(weight, xs[v], sums[j][v]);
      }
    }
  }
}

// add_input_row() of the range [lo, hi], found among the instances from [kLo,
// kHi] on.
template <int kLo, int kHi, int kV, Step kStep, bool kMasked, class T>
inline void add_input_row_in(int lo, int hi, const RowLanesArgs& a, const TileLanes& m, const T* x,
                             const float* w, int64_t i, Vec (&sums)[kTileRows<kV>][kV]) {
  if (lo == kLo && hi == kHi) {
    add_input_row<kLo, kHi, kV, kStep, kMasked>(a, m, x, w, i, sums);
  } else if constexpr (kHi + 1 < kTileRows<kV>) {
    add_input_row_in<kLo, kHi + 1, kV, kStep, kMasked>(lo, hi, a, m, x, w, i, sums);
  } else if constexpr (kLo + 1 < kTileRows<kV>) {
    add_input_row_in<kLo + 1, kLo + 1, kV, kStep, kMasked>(lo, hi, a, m, x, w, i, sums);
  }
}

// The rows [rows.lo, rows.hi) of the input, counted from tap row 0 of the first
// output row.
template <int kV, Step kStep, bool kMasked, class T>
inline void add_rows(const RowLanesArgs& a, const TileLanes& m, const T* x, const float* w,
                     Range rows, Vec (&sums)[kTileRows<kV>][kV]) {
  constexpr int kLast = kTileRows<kV> - 1;
  const bool by_two = a.stride[1] == 2;
  for (int64_t i = rows.lo; i < rows.hi; ++i) {
    const int64_t past =
        i - a.filter[1];  // row j has taken its last input row if j * stride <= past
    const int64_t lo = past < 0 ? 0 : (by_two ? past / 2 : past) + 1;
    const int64_t open = by_two ? i / 2 : i;
    const int hi = static_cast<int>(open < kLast ? open : kLast);
    add_input_row_in<0, 0, kV, kStep, kMasked>(static_cast<int>(lo), hi, a, m,
                                               x + i * a.x_stride[3], w, i, sums);
  }
}

// `count` output rows; t.rows are the input rows of the tile that lie inside,
// from tap row 0 on.
template <int kV, Step kStep, bool kMasked, class T>
[[gnu::noinline]] void rows_tile(const RowLanesArgs& a, const TileLanes& m, const Tile<T>& t,
                                 int count) {
  constexpr int kRows = kTileRows<kV>;
  Vec sums[kRows][kV];
  for (int j = 0; j < kRows; ++j) {
    for (int v = 0; v < kV; ++v)
      sums[j][v] = zero();
  }
  for (int64_t c = 0; c < a.cpg; ++c) {
    for (int64_t d = t.depth.lo; d < t.depth.hi; ++d) {
      const T* x = t.x + c * a.x_stride[1] + d * a.dilation[0] * a.x_stride[2];
      const float* w = t.w + c * a.w_stride[1] + d * a.w_stride[2];
      add_rows<kV, kStep, kMasked>(a, m, x, w, t.rows, sums);
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
  if (m.vectors == 1) return rows_tile<1, kStep, true>(a, m, t, count);
  if (m.masked) return rows_tile<2, kStep, true>(a, m, t, count);
  rows_tile<2, kStep, false>(a, m, t, count);
}

}  // namespace
}  // namespace convoy
