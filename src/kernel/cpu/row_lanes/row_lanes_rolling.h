// The rolling tile of 2D depthwise 3x3 filters: the weights stay in registers,
// every input row is loaded once and added to the sums of the output rows that
// are open at that moment.
#pragma once

#include "kernel/cpu/row_lanes/row_lanes_loads.h"

namespace convoy {
namespace {

// Four: long rows keep the prefetcher going. Two lost on planes beyond the L2 cache: 144x56x56 took
// 151 us against 134, 96x112x112 with stride 2 took 294 against 226, one core of a shared Xeon
// (Sapphire Rapids or later) at 180 GFLOP/s and 26 GB/s of L3 copy.
constexpr int kMaxRolling = kLanes == 16 ? 4 : 2;

// kV vectors of one channel, or one vector of each of kC channels: a narrow
// plane alone has too few chains of sums to hide the latency of their
// additions.
template <int kV, int kC>
struct Rolling {
  Vec weights[3][3][kC];
  TapLanes taps[3][kV];
  int64_t x_next;  // from vector to vector
};

// Adds row r of the filter, for r from kFirst down, to the sums of the rows
// that have it open.
template <Step kStep, bool kMasked, int kFirst, int kStepR, int kV, int kC, int kRows, class T>
inline void roll_row(const Rolling<kV, kC>& f, const T* x, Vec (&sums)[kRows][kV * kC]) {
  constexpr int kStride = kStep == Step::kOne ? 1 : 2;
  for (int s = 0; s < 3; ++s) {
    for (int v = 0; v < kV * kC; ++v) {
      const TapLanes taps = f.taps[s][v % kV];
      const T* from = kC == 1 ? x + s + v * kLanes * kStride : x + s + v * f.x_next;
      const Vec xs = load_x<kStep, kMasked>(from, kStride, taps);
      for (int j = 0; j < kRows; ++j) {
        const int r = kFirst - j * kStepR;
        if (r < 0 || r > 2) continue;
        const Vec weight = f.weights[r][s][v % kC];
        sums[j][v] =
            kMasked ? fma(taps.lanes, weight, xs, sums[j][v]) : fma(weight, xs, sums[j][v]);
      }
    }
  }
}

template <class T>
struct RollingTile {
  const T* x;  // what tap (0,0) of the first output row reads, in input row h0
  const float* w;
  T* y;
  int64_t k, h0, count;  // first output channel; output rows
};

template <int kV, int kC, Step kStep, bool kMasked, bool kFar, class T>
[[gnu::noinline]] void rolling_tile(const RowLanesArgs& a, const TileLanes& m,
                                    const RollingTile<T>& t) {
  Rolling<kV, kC> f;
  f.x_next = a.x_stride[1];
  Vec bias[kC];
  for (int c = 0; c < kC; ++c) {
    bias[c] = set1(bias_at<T>(a.epilogue, t.k + c));
    for (int i = 0; i < 9; ++i) {
      f.weights[i / 3][i % 3][c] =
          set1(t.w[c * a.w_stride[0] + i / 3 * a.w_stride[3] + i % 3 * a.w_stride[4]]);
    }
  }
  const Clamp clamp = clamp_of(a.epilogue.activation);
  [[maybe_unused]] Mask stored[kV];
  for (int v = 0; v < kV; ++v) {
    if constexpr (kMasked) stored[v] = m.stored[v];
  }
  for (int s = 0; s < 3; ++s) {
    for (int v = 0; v < kV; ++v) {
      if constexpr (kMasked) f.taps[s][v] = m.column_taps[s][v];
    }
  }
  const int64_t y_next = kC == 1 ? kLanes : a.y_stride[1], h0 = t.h0;
  const T* x = t.x;
  T* y = t.y;
  const int64_t H = a.in[1], x_row = a.x_stride[3], y_row = a.y_stride[3];
  const auto inside = [H](int64_t h) { return h >= 0 && h < H; };
  constexpr int kOpen = kStep == Step::kOne ? 3 : 2;
  Vec sums[kOpen][kV * kC];
  for (auto& row : sums) {
    for (Vec& sum : row)
      sum = zero();
  }
  const auto close_row = [&] {
    for (int v = 0; v < kV * kC; ++v) {
      if constexpr (kFar) {
        store_y<kMasked>(a, m, v % kV, y + v * y_next, sums[0][v], bias[v % kC]);
      } else if constexpr (kMasked) {
        store(stored[v % kV], y + v * y_next, finish(sums[0][v], bias[v % kC], clamp));
      } else {
        store(y + v * y_next, finish(sums[0][v], bias[v % kC], clamp));
      }
      for (int j = 0; j + 1 < kOpen; ++j)
        sums[j][v] = sums[j + 1][v];
      sums[kOpen - 1][v] = zero();
    }
    y += y_row;
  };
  if constexpr (kStep == Step::kOne) {
    // Two rows open the first output row and the second.
    Vec first[2][kV * kC];
    for (auto& row : first) {
      for (Vec& sum : row)
        sum = zero();
    }
    if (inside(h0)) roll_row<kStep, kMasked, 0, 1>(f, x, first);
    if (inside(h0 + 1)) roll_row<kStep, kMasked, 1, 1>(f, x + x_row, first);
    for (int v = 0; v < kV * kC; ++v) {
      sums[0][v] = first[0][v];
      sums[1][v] = first[1][v];
    }
    x += 2 * x_row;
    for (int64_t h = h0 + 2; h < h0 + 2 + t.count; ++h, x += x_row) {
      if (inside(h)) roll_row<kStep, kMasked, 2, 1>(f, x, sums);
      close_row();
    }
  } else {
    if (inside(h0)) roll_row<kStep, kMasked, 0, 2>(f, x, sums);
    for (int64_t h = h0 + 1; h < h0 + 1 + 2 * t.count; h += 2, x += 2 * x_row) {
      if (inside(h)) roll_row<kStep, kMasked, 1, 2>(f, x + x_row, sums);
      if (inside(h + 1)) roll_row<kStep, kMasked, 2, 2>(f, x + 2 * x_row, sums);
      close_row();
    }
  }
}

template <int kV, int kC, Step kStep, class T>
inline void rolling_tile_masks(const RowLanesArgs& a, const TileLanes& m, const RollingTile<T>& t) {
  if constexpr (kV > 1) {
    if (!m.masked) return rolling_tile<kV, kC, kStep, false, false>(a, m, t);
  }
  if (is_far(a.epilogue.activation)) return rolling_tile<kV, kC, kStep, true, true>(a, m, t);
  rolling_tile<kV, kC, kStep, true, false>(a, m, t);
}

template <Step kStep, class T>
inline void rolling_tile_vectors(const RowLanesArgs& a, const TileLanes& m, int64_t channels,
                                 RollingTile<T> t) {
  if constexpr (kMaxRolling == 4) {
    if (m.vectors == 4) return rolling_tile_masks<4, 1, kStep>(a, m, t);
    if (m.vectors == 3) return rolling_tile_masks<3, 1, kStep>(a, m, t);
  }
  if (m.vectors == 2) return rolling_tile_masks<2, 1, kStep>(a, m, t);
  if (channels == 2) return rolling_tile_masks<1, 2, kStep>(a, m, t);
  rolling_tile_masks<1, 1, kStep>(a, m, t);
}

}  // namespace
}  // namespace convoy
