// Tiles of channel_lanes by rows: T output columns of one or two rows in registers.
//
// The sum of one output runs over t, r, the group's channels j, then s, in every tile shape, so
// that edges and tails never change a bit.
#pragma once

#include "kernel/cpu/channel_lanes/block.h"

namespace convoy {
namespace {

// acc[i] += x * w over the taps s of one filter row, each tap read where it is needed.
template <int kT, bool kEdge, class Read, class T>
inline void add_row(Vec (&acc)[kT], const Tile& tile, const T* row, const float* w, Read read) {
  const int64_t pixel = tile.g->x_stride[4];
  const int64_t step = tile.g->stride[2] * pixel;
  const T* column = row + (tile.q0 * tile.g->stride[2] - tile.g->pad[2]) * pixel;
  for (int64_t s = 0; s < tile.g->filter[2]; ++s) {
    const Vec weight = load(w);
    const unsigned bits = kEdge ? tile.edges[s] : 0;
    const T* pixel_of_i = column;
#pragma GCC unroll 8
    for (int i = 0; i < kT; ++i) {
      if (!kEdge || (bits >> i & 1U) != 0) acc[i] = fma(read(pixel_of_i), weight, acc[i]);
      pixel_of_i += step;
    }
    column += tile.g->dilation[2] * pixel;
    w += tile.tap_step;
  }
}

// The same sum for filters of kS columns at stride kStride and dilation 1: each input column is
// tested and read once and feeds every output column of the tile that it belongs to. Output i meets
// its taps in rising s as the input column rises, which is the order of add_row.
// kRows tells which of two output rows this input row feeds (bit 0: acc[0] through w[0], bit 1).
template <int kT, int kS, int kStride, unsigned kRows, class Read, class T>
inline void add_row_shared(Vec (*acc)[kT], const Tile& tile, const T* row,
                           const float* const (&w)[2], Read read) {
  const int64_t pixel = tile.g->x_stride[4];
  const int64_t first = tile.q0 * kStride - tile.g->pad[2];
  const auto width = static_cast<uint64_t>(tile.g->in[2]);
  Vec weights[2][kS];
#pragma GCC unroll 8
  for (int s = 0; s < kS; ++s) {
    if constexpr ((kRows & 1U) != 0) weights[0][s] = load(w[0] + s * tile.tap_step);
    if constexpr ((kRows & 2U) != 0) weights[1][s] = load(w[1] + s * tile.tap_step);
  }
  const T* column = row + first * pixel;
#pragma GCC unroll 32
  for (int c = 0; c < (kT - 1) * kStride + kS; ++c) {
    if (static_cast<uint64_t>(first + c) < width) {
      const Vec v = read(column);
#pragma GCC unroll 8
      for (int i = 0; i < kT; ++i) {
        const int s = c - i * kStride;
        if (s < 0 || s >= kS) continue;
        if constexpr ((kRows & 1U) != 0) acc[0][i] = fma(v, weights[0][s], acc[0][i]);
        if constexpr ((kRows & 2U) != 0) acc[1][i] = fma(v, weights[1][s], acc[1][i]);
      }
    }
    column += pixel;
  }
}

template <class T, bool kIdentity, bool kMasked, int kT, int kS, int kStride>
inline void compute_tile(const ChannelLanesArgs& a, const Block<T>& block, const Tile& tile,
                         const Position& at) {
  constexpr bool kEdge = kS < 0;
  const Geometry& g = a.g;
  Vec acc[kT];
#pragma GCC unroll 8
  for (int i = 0; i < kT; ++i)
    acc[i] = zero();
  const int64_t row_weights = g.filter[2] * g.cpg * kLanes;
  for (int64_t t = 0; t < g.filter[0]; ++t) {
    const int64_t d = at.z * g.stride[0] - g.pad[0] + t * g.dilation[0];
    if (d < 0 || d >= g.in[0]) continue;
    for (int64_t r = 0; r < g.filter[1]; ++r) {
      const int64_t h = at.p * g.stride[1] - g.pad[1] + r * g.dilation[1];
      if (h < 0 || h >= g.in[1]) continue;
      const T* row = block.x + at.n * g.x_stride[0] + d * g.x_stride[2] + h * g.x_stride[3];
      const float* w = block.w + (t * g.filter[1] + r) * row_weights;
      for (int64_t j = 0; j < (kIdentity ? 1 : g.cpg); ++j) {
        Reader<T, kIdentity, kMasked> read{block.read_mask, {}};
        if constexpr (!kIdentity) read.spread = load_index(a.pattern.spread[j]);
        if constexpr (kS > 0) {
          add_row_shared<kT, kS, kStride, 1>(&acc, tile, row, {w + j * kLanes, nullptr}, read);
        } else {
          add_row<kT, kEdge>(acc, tile, row, w + j * kLanes, read);
        }
      }
    }
  }
  store_row<T, kIdentity, kMasked>(g, block, acc, tile.q0, at);
}

// Two output rows of one tile, at stride 1 and dilation 1: each input row is read once for both.
template <class T, bool kIdentity, int kT, int kS>
inline void compute_pair(const ChannelLanesArgs& a, const Block<T>& block, const Tile& tile,
                         const Position& at) {
  const Geometry& g = a.g;
  Vec acc[2][kT];
#pragma GCC unroll 8
  for (int i = 0; i < kT; ++i)
    acc[0][i] = acc[1][i] = zero();
  const int64_t row_weights = kS * g.cpg * kLanes;
  for (int64_t t = 0; t < g.filter[0]; ++t) {
    const int64_t d = at.z * g.stride[0] - g.pad[0] + t * g.dilation[0];
    if (d < 0 || d >= g.in[0]) continue;
    const T* plane = block.x + at.n * g.x_stride[0] + d * g.x_stride[2];
    for (int64_t r = 0; r <= g.filter[1]; ++r) {
      const int64_t h = at.p - g.pad[1] + r;
      if (h < 0 || h >= g.in[1]) continue;
      const T* row = plane + h * g.x_stride[3];
      const float* w = block.w + (t * g.filter[1] + r) * row_weights;
      for (int64_t j = 0; j < (kIdentity ? 1 : g.cpg); ++j, w += kLanes) {
        Reader<T, kIdentity, false> read{block.read_mask, {}};
        if constexpr (!kIdentity) read.spread = load_index(a.pattern.spread[j]);
        if (r == 0) {
          add_row_shared<kT, kS, 1, 1>(acc, tile, row, {w, nullptr}, read);
        } else if (r == g.filter[1]) {
          add_row_shared<kT, kS, 1, 2>(acc, tile, row, {nullptr, w - row_weights}, read);
        } else {
          add_row_shared<kT, kS, 1, 3>(acc, tile, row, {w, w - row_weights}, read);
        }
      }
    }
  }
  store_row<T, kIdentity, false>(g, block, acc[0], tile.q0, at);
  store_row<T, kIdentity, false>(g, block, acc[1], tile.q0, {at.n, at.z, at.p + 1});
}

// Rows that any_tile computes at once: 14 accumulators, 14 weights and an input need 32 registers.
inline int rows_at_once(const Geometry& g) {
  const bool pair = kLanes == 16 && g.stride[1] == 1 && g.stride[2] == 1 && g.dilation[1] == 1 &&
                    g.dilation[2] == 1 &&
                    (g.filter[2] == 3 || g.filter[2] == 5 || g.filter[2] == 7);
  return pair ? 2 : 1;
}

// kS = 0 is the general row, kS = -1 the general row at an edge.
template <class T, bool kIdentity, bool kMasked, int kT>
inline void any_tile(const ChannelLanesArgs& a, const Block<T>& block, Tile tile, EdgeTable& edges,
                     int64_t index, const Position& at, int rows) {
  const Geometry& g = a.g;
  if constexpr (kT >= 7 && !kMasked) {
    const int64_t s = g.dilation[2] == 1 ? g.filter[2] : 0, stride = g.stride[2];
    if constexpr (kLanes == 16) {
      if (rows == 2 && s == 3) return compute_pair<T, kIdentity, kT, 3>(a, block, tile, at);
      if (rows == 2 && s == 5) return compute_pair<T, kIdentity, kT, 5>(a, block, tile, at);
      if (rows == 2 && s == 7) return compute_pair<T, kIdentity, kT, 7>(a, block, tile, at);
    }
    if (s == 3 && stride == 1) {
      return compute_tile<T, kIdentity, kMasked, kT, 3, 1>(a, block, tile, at);
    }
    if (s == 3 && stride == 2) {
      return compute_tile<T, kIdentity, kMasked, kT, 3, 2>(a, block, tile, at);
    }
    if (s == 5 && stride == 1) {
      return compute_tile<T, kIdentity, kMasked, kT, 5, 1>(a, block, tile, at);
    }
    if (s == 7 && stride == 1) {
      return compute_tile<T, kIdentity, kMasked, kT, 7, 1>(a, block, tile, at);
    }
  }
  if (rows == 2) {  // tails and masked blocks take the rows one by one
    any_tile<T, kIdentity, kMasked, kT>(a, block, tile, edges, index, at, 1);
    return any_tile<T, kIdentity, kMasked, kT>(a, block, tile, edges, index, {at.n, at.z, at.p + 1},
                                               1);
  }
  const int64_t first = tile.q0 * g.stride[2] - g.pad[2];
  const int64_t last = first + (kT - 1) * g.stride[2] + (g.filter[2] - 1) * g.dilation[2];
  if (first >= 0 && last < g.in[2]) {
    return compute_tile<T, kIdentity, kMasked, kT, 0, 0>(a, block, tile, at);
  }
  if (!edges.whole_row) {
    fill_edges(g, tile.q0, kT, edges.bits);
    index = 0;
  }
  tile.edges = edges.bits + index * g.filter[2];
  compute_tile<T, kIdentity, kMasked, kT, -1, 0>(a, block, tile, at);
}

}  // namespace
}  // namespace convoy
