// The tasks of channel_lanes: a band of output rows and a chunk of blocks, tile by tile.
#pragma once

#include "kernel/cpu/channel_lanes/rolling.h"
#include "kernel/cpu/channel_lanes/rows.h"

namespace convoy {
namespace {

// Columns of the next tile: sevens where they divide Q (56, 28, 14, 7), else eights and the rest.
inline int tile_columns(int64_t Q, int64_t q0) {
  const int64_t rest = Q - q0;
  if (Q % 7 == 0) return 7;
  return rest >= 8 ? 8 : rest >= 7 ? 7 : rest >= 4 ? 4 : 1;
}

inline void fill_edges(const Geometry& g, EdgeTable& edges) {
  const int64_t most_tiles = g.out[2] / 7 + 4;
  edges.whole_row = most_tiles <= kMaxFilterColumns / g.filter[2];
  if (!edges.whole_row) return;
  int64_t index = 0;
  for (int64_t q0 = 0; q0 < g.out[2]; ++index) {
    const int columns = tile_columns(g.out[2], q0);
    fill_edges(g, q0, columns, edges.bits + index * g.filter[2]);
    q0 += columns;
  }
}

// The tile of every block of the task: pixels hold their channels next to each other, so that the
// input streams through in its own order.
template <class T, bool kIdentity, int kT>
inline void compute_blocks(const ChannelLanesArgs& a, const Block<T>* blocks, int64_t count,
                           const Tile& tile, EdgeTable& edges, int64_t index, const Position& at,
                           int rows, Ahead* ahead) {
  for (int64_t b = 0; b < count; ++b) {
    ahead[0].ask();
    ahead[1].ask();
    if (blocks[b].whole) {
      any_tile<T, kIdentity, false, kT>(a, blocks[b], tile, edges, index, at, rows);
    } else {
      any_tile<T, kIdentity, true, kT>(a, blocks[b], tile, edges, index, at, rows);
    }
  }
}

template <class T, bool kIdentity>
inline void compute_row(const ChannelLanesArgs& a, const Block<T>* blocks, int64_t count,
                        EdgeTable& edges, const Position& at, int rows, Ahead* ahead) {
  Tile tile{&a.g, 0, nullptr, a.g.cpg * kLanes};
  for (int64_t index = 0; tile.q0 < a.g.out[2]; ++index) {
    const int columns = tile_columns(a.g.out[2], tile.q0);
    if (columns == 8)
      compute_blocks<T, kIdentity, 8>(a, blocks, count, tile, edges, index, at, rows, ahead);
    if (columns == 7)
      compute_blocks<T, kIdentity, 7>(a, blocks, count, tile, edges, index, at, rows, ahead);
    if (columns == 4)
      compute_blocks<T, kIdentity, 4>(a, blocks, count, tile, edges, index, at, rows, ahead);
    if (columns == 1)
      compute_blocks<T, kIdentity, 1>(a, blocks, count, tile, edges, index, at, rows, ahead);
    tile.q0 += columns;
  }
}

// The operands of the band after this one: x read, y written. Nothing where the task walks a part
// of the channels, whose pixels do not lie end to end.
template <class T>
inline void next_band(const ChannelLanesArgs& a, const Position& at, int64_t p_end,
                      int64_t requests, Ahead (&ahead)[2]) {
  ahead[0] = ahead[1] = {};
  const Geometry& g = a.g;
  if (!a.fetch_ahead || a.chunk < a.pattern.blocks) return;
  const bool last = p_end >= g.out[1];
  const int64_t n = last ? at.n + 1 : at.n, p = last ? 0 : p_end;
  if (n >= g.N || g.out[0] > 1) return;
  const int64_t p_next = p + a.band < g.out[1] ? p + a.band : g.out[1];
  // The rows that this band reads too are there already.
  const int64_t skip = last ? -g.pad[1] : g.filter[1] - 1 - g.pad[1];
  const int64_t h = p * g.stride[1] + skip,
                h_next = p_next * g.stride[1] + g.filter[1] - 1 - g.pad[1];
  const int64_t h_end = h_next < g.in[1] ? h_next : g.in[1];
  constexpr int64_t kBytes = sizeof(T);
  ahead[0] = ahead_of(g.x, (n * g.x_stride[0] + (h > 0 ? h : 0) * g.x_stride[3]) * kBytes,
                      (n * g.x_stride[0] + h_end * g.x_stride[3]) * kBytes, requests);
  ahead[1] = ahead_of(g.y, (n * g.y_stride[0] + p * g.y_stride[3]) * kBytes,
                      (n * g.y_stride[0] + p_next * g.y_stride[3]) * kBytes, requests);
}

// Whole blocks roll; a block of fewer channels than lanes takes its rows one by one.
template <class T>
inline void roll_band(const ChannelLanesArgs& a, const Block<T>* blocks, int64_t count,
                      EdgeTable& edges, const Position& at, int64_t p_end) {
  Ahead ahead[2];
  next_band<T>(a, at, p_end, a.g.out[2] / kRollColumns * count * (p_end - at.p), ahead);
  for (int64_t q0 = 0; q0 < a.g.out[2]; q0 += kRollColumns) {
    for (int64_t b = 0; b < count; ++b) {
      if (!blocks[b].whole) continue;
      if (a.g.stride[1] == 1) roll_down<1>(a, blocks[b], q0, at, p_end, ahead);
      if (a.g.stride[1] == 2) roll_down<2>(a, blocks[b], q0, at, p_end, ahead);
    }
  }
  for (int64_t b = 0; b < count; ++b) {
    if (blocks[b].whole) continue;
    for (Position row = at; row.p < p_end; ++row.p)
      compute_row<T, true>(a, blocks + b, 1, edges, row, 1, ahead);
  }
}

template <class T, bool kIdentity>
inline void compute_band(const ChannelLanesArgs& a, Position at, int64_t b0) {
  const Geometry& g = a.g;
  EdgeTable edges;
  fill_edges(g, edges);
  Block<T> blocks[kMaxChunk];
  const int64_t count = b0 + a.chunk < a.pattern.blocks ? a.chunk : a.pattern.blocks - b0;
  for (int64_t b = 0; b < count; ++b)
    blocks[b] = make_block<T, kIdentity>(a, b0 + b);
  const int64_t p_end = at.p + a.band < g.out[1] ? at.p + a.band : g.out[1];
  if constexpr (kIdentity) {
    if (rolls(a)) return roll_band(a, blocks, count, edges, at, p_end);
  }
  const int most = rows_at_once(g);
  Ahead ahead[2];
  next_band<T>(a, at, p_end, (p_end - at.p + most - 1) / most * ((g.out[2] + 6) / 7) * count,
               ahead);
  while (at.p < p_end) {
    const int rows = p_end - at.p < most ? 1 : most;
    compute_row<T, kIdentity>(a, blocks, count, edges, at, rows, ahead);
    at.p += rows;
  }
}

// Output columns [begin, begin + a.segment) as a problem of their own: the pad moves, the input
// stays.
inline ChannelLanesArgs cut_segment(const ChannelLanesArgs& a, int64_t begin,
                                    int64_t element_bytes) {
  ChannelLanesArgs cut = a;
  const int64_t left = a.g.out[2] - begin;
  cut.g.out[2] = left < a.segment ? left : a.segment;
  cut.g.pad[2] -= begin * a.g.stride[2];
  cut.g.y = static_cast<char*>(a.g.y) + begin * a.g.y_stride[4] * element_bytes;
  return cut;
}

// Task -> (n, z, band, segment, chunk), the last fastest.
template <class T>
inline void run_task(const ChannelLanesArgs& a, int64_t task) {
  const Geometry& g = a.g;
  const int64_t chunks = (a.pattern.blocks + a.chunk - 1) / a.chunk;
  const int64_t segments = (g.out[2] + a.segment - 1) / a.segment;
  const int64_t bands = (g.out[1] + a.band - 1) / a.band;
  const int64_t b0 = task % chunks * a.chunk;
  const int64_t q0 = task / chunks % segments * a.segment;
  const int64_t row = task / chunks / segments;
  const Position at = {row / bands / g.out[0], row / bands % g.out[0], row % bands * a.band};
  const ChannelLanesArgs cut = cut_segment(a, q0, sizeof(T));
  if (a.pattern.identity) return compute_band<T, true>(cut, at, b0);
  compute_band<T, false>(cut, at, b0);
}

inline void run_task_any(const ChannelLanesArgs& a, int64_t task) {
  if (a.g.dtype == DType::kF16) return run_task<F16>(a, task);
  if (a.g.dtype == DType::kBf16) return run_task<Bf16>(a, task);
  run_task<float>(a, task);
}

}  // namespace
}  // namespace convoy
