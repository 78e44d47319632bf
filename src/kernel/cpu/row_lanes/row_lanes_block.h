// The block tile: k output channels by v vectors of sums in registers; channels
// share the loads of x, vectors the broadcast weights.
#pragma once

#include "kernel/cpu/row_lanes/row_lanes_loads.h"

namespace convoy {
namespace {

// Where a tile reads and writes, and the filter planes and rows that meet the
// input.
template <class T>
struct Tile {
  const T* x;      // what tap (0,0,0) of the first output reads; may lie on padding
  const float* w;  // of the first output channel
  T* y;
  int64_t k;  // first output channel
  Range depth, rows;
};

template <int kK, int kV, Step kStep, bool kMasked, bool kFlat, class T>
inline void add_filter_row(const RowLanesArgs& a, const TileLanes& m, const T* x, const float* w,
                           [[maybe_unused]] const Mask* row_taps, Vec (&sums)[kK][kV]) {
  constexpr int64_t kNext = kLanes;
  const int64_t next = kNext * a.stride[2];
  for (int64_t s = 0; s < a.filter[2]; ++s, x += a.dilation[2], w += a.w_stride[4]) {
    Vec xs[kV];
    TapLanes taps[kV];
    for (int v = 0; v < kV; ++v) {
      if constexpr (kMasked) taps[v] = m.column_taps[s][v];
      if constexpr (kFlat) taps[v].lanes &= row_taps[v];
      const T* from = kStep == Step::kOne ? x + v * kNext : x + v * next;
      xs[v] = load_x<kStep, kMasked>(from, a.stride[2], taps[v]);
    }
    for (int k = 0; k < kK; ++k) {
      const Vec weight = set1(w[k * a.w_stride[0]]);
      for (int v = 0; v < kV; ++v) {
        sums[k][v] = kMasked ? fma(taps[v].lanes, weight, xs[v], sums[k][v])
                             : fma(weight, xs[v], sums[k][v]);
      }
    }
  }
}

template <int kK, int kV, Step kStep, bool kMasked, bool kFlat, class T>
[[gnu::noinline]] void block_tile(const RowLanesArgs& a, const TileLanes& m, const Tile<T>& t) {
  Vec sums[kK][kV];
  for (int k = 0; k < kK; ++k) {
    for (int v = 0; v < kV; ++v)
      sums[k][v] = zero();
  }
  for (int64_t c = 0; c < a.cpg; ++c) {
    for (int64_t d = t.depth.lo; d < t.depth.hi; ++d) {
      for (int64_t r = t.rows.lo; r < t.rows.hi; ++r) {
        const T* x = t.x + c * a.x_stride[1] + d * a.dilation[0] * a.x_stride[2] +
                     r * a.dilation[1] * a.x_stride[3];
        const float* w = t.w + c * a.w_stride[1] + d * a.w_stride[2] + r * a.w_stride[3];
        add_filter_row<kK, kV, kStep, kMasked, kFlat>(a, m, x, w, kFlat ? m.row_taps[r] : nullptr,
                                                      sums);
      }
    }
  }
  for (int k = 0; k < kK; ++k) {
    const Vec bias = set1(bias_at<T>(a.epilogue, t.k + k));
    for (int v = 0; v < kV; ++v)
      store_y<kMasked>(a, m, v, t.y + k * a.y_stride[1] + v * kLanes, sums[k][v], bias);
  }
}

template <int kK, int kV, Step kStep, class T>
inline void block_tile_masks(const RowLanesArgs& a, const TileLanes& m, const Tile<T>& t) {
  if constexpr (kStep == Step::kOne) {
    if (a.mode == RowLanesMode::kFlat) return block_tile<kK, kV, kStep, true, true>(a, m, t);
  }
  if constexpr (kStep != Step::kAny && kV > 1) {
    if (!m.masked) return block_tile<kK, kV, kStep, false, false>(a, m, t);
  }
  block_tile<kK, kV, kStep, true, false>(a, m, t);
}

// Vectors that fit beside k channels in the registers.
constexpr int block_vectors(int k, Step step) {
  if (step == Step::kAny) return 2;
  if (kLanes == 16) return k == 8 ? 3 : 4;
  return k == 4 ? 2 : k == 2 ? 3 : 4;
}
constexpr int kMaxBlock = kLanes == 16 ? 8 : 4;

template <int kK, Step kStep, class T>
void block_tile_vectors(const RowLanesArgs& a, const TileLanes& m, const Tile<T>& t) {
  constexpr int kMost = block_vectors(kK, kStep);
  switch (m.vectors) {
    case 4:
      if constexpr (kMost >= 4) return block_tile_masks<kK, 4, kStep>(a, m, t);
      [[fallthrough]];
    case 3:
      if constexpr (kMost >= 3) return block_tile_masks<kK, 3, kStep>(a, m, t);
      [[fallthrough]];
    case 2:
      return block_tile_masks<kK, 2, kStep>(a, m, t);
    default:
      return block_tile_masks<kK, 1, kStep>(a, m, t);
  }
}

// All of `channels` output channels, in blocks of falling size.
template <int kK, Step kStep, class T>
void block_tiles(const RowLanesArgs& a, const TileLanes& m, Tile<T> t, int64_t channels) {
  for (; channels >= kK; channels -= kK) {
    block_tile_vectors<kK, kStep>(a, m, t);
    t.k += kK;
    t.w += kK * a.w_stride[0];
    t.y += kK * a.y_stride[1];
  }
  if constexpr (kK > 1) block_tiles<kK / 2, kStep>(a, m, t, channels);
}

}  // namespace
}  // namespace convoy
