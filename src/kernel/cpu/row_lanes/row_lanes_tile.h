// Walks the items of a task: which tile stands where.
#pragma once

#include "kernel/cpu/row_lanes/row_lanes_narrow.h"
#include "kernel/cpu/row_lanes/row_lanes_rolling.h"
#include "kernel/cpu/row_lanes/row_lanes_rows.h"

namespace convoy {
namespace {

struct Item {
  int64_t n, g, z, strip, chunk, block;
};

inline Item item_at(const RowLanesArgs& a, int64_t i) {
  Item t;
  t.block = i % a.blocks;
  i /= a.blocks;
  t.chunk = i % a.chunks;
  i /= a.chunks;
  t.strip = i % a.strips;
  i /= a.strips;
  t.z = i % a.out[0];
  i /= a.out[0];
  t.g = i % a.pairs * a.pair;
  t.n = i / a.pairs;
  return t;
}

// The next item without divisions: a small plane takes less time than they do.
inline void advance(const RowLanesArgs& a, Item& t) {
  if (++t.block < a.blocks) return;
  t.block = 0;
  if (++t.chunk < a.chunks) return;
  t.chunk = 0;
  if (++t.strip < a.strips) return;
  t.strip = 0;
  if (++t.z < a.out[0]) return;
  t.z = 0;
  if ((t.g += a.pair) < a.G) return;
  t.g = 0;
  ++t.n;
}

inline int64_t least(int64_t a, int64_t b) {
  return a < b ? a : b;
}

// The tile of an item at output row p and column q; its rows are left to the
// caller.
template <class T>
inline Tile<T> tile_at(const RowLanesArgs& a, const Item& t, int64_t p, int64_t q) {
  const int64_t k = t.g * a.kpg + t.block * a.block;
  const int64_t d = t.z * a.stride[0] - a.pad[0], h = p * a.stride[1] - a.pad[1];
  Tile<T> tile;
  tile.x = static_cast<const T*>(a.x) + t.n * a.x_stride[0] + t.g * a.cpg * a.x_stride[1] +
           d * a.x_stride[2] + h * a.x_stride[3] + q * a.stride[2] - a.pad[2];
  tile.w = a.w + k * a.w_stride[0];
  tile.y = static_cast<T*>(a.y) + t.n * a.y_stride[0] + k * a.y_stride[1] + t.z * a.y_stride[2] +
           p * a.y_stride[3] + q;
  tile.k = k;
  tile.depth = inside_range(d, a.dilation[0], a.in[0], a.filter[0]);
  return tile;
}

template <Step kStep, class T>
inline void run_rows(const RowLanesArgs& a, const Item& t, const TileLanes& m) {
  const int64_t p0 = t.strip * a.strip, end = least(p0 + a.strip, a.rows);
  const int64_t most = m.vectors == 1 ? kTileRows<1> : kTileRows<2>;
  for (int64_t p = p0; p < end; p += most) {
    Tile<T> tile = tile_at<T>(a, t, p, m.column);
    const int64_t count = least(most, end - p);
    tile.rows = inside_range(p * a.stride[1] - a.pad[1], 1, a.in[1],
                             (count - 1) * a.stride[1] + a.filter[1]);
    rows_tile_masks<kStep>(a, m, tile, static_cast<int>(count));
  }
}

template <Step kStep, class T>
inline void run_rolling(const RowLanesArgs& a, const Item& t, const TileLanes& m) {
  const int64_t p = t.strip * a.strip;
  const Tile<T> tile = tile_at<T>(a, t, p, m.column);
  const int64_t h0 = p * a.stride[1] - a.pad[1], count = least(a.strip, a.rows - p);
  rolling_tile_vectors<kStep, T>(a, m, least(a.pair, a.G - t.g),
                                 {tile.x, tile.w, tile.y, tile.k, h0, count});
}

template <Step kStep, class T>
inline void run_blocks(const RowLanesArgs& a, const Item& t, const TileLanes& m) {
  const int64_t channels = least(a.block, a.kpg - t.block * a.block);
  const int64_t p0 = t.strip * a.strip, end = least(p0 + a.strip, a.rows);
  for (int64_t p = p0; p < end; ++p) {
    Tile<T> tile = tile_at<T>(a, t, p, m.column);
    tile.rows = a.mode == RowLanesMode::kFlat
                    ? Range{0, a.filter[1]}
                    : inside_range(p * a.stride[1] - a.pad[1], a.dilation[1], a.in[1], a.filter[1]);
    block_tiles<kMaxBlock, kStep>(a, m, tile, channels);
  }
}

// Vectors of a tile as wide as its widest block of channels allows.
template <Step kStep>
inline int64_t most_vectors(const RowLanesArgs& a) {
  if (a.mode == RowLanesMode::kRows) return 2;
  if (a.mode == RowLanesMode::kRolling) return kMaxRolling;
  const int64_t channels = least(a.block, a.kpg);
  if (channels >= 8 && kMaxBlock >= 8) return block_vectors(8, kStep);
  if (channels >= 4) return block_vectors(4, kStep);
  return channels >= 2 ? block_vectors(2, kStep) : block_vectors(1, kStep);
}

template <Step kStep, class T>
inline void run_tile(const RowLanesArgs& a, const Item& t, const TileLanes& m) {
  if constexpr (kStep != Step::kAny) {
    if (a.mode == RowLanesMode::kRolling) return run_rolling<kStep, T>(a, t, m);
    if (a.mode == RowLanesMode::kRows) return run_rows<kStep, T>(a, t, m);
  }
  run_blocks<kStep, T>(a, t, m);
}

template <Step kStep, class T>
void run_item(const RowLanesArgs& a, const Item& t, TileLanes (&lanes)[kTiles]) {
  int64_t q = t.chunk * a.chunk;
  const int64_t end = least(q + a.chunk, a.columns);
  const int64_t most = most_vectors<kStep>(a);
  int64_t vectors = (end - q + kLanes - 1) / kLanes;
  for (int64_t tiles = (vectors + most - 1) / most; tiles > 0; --tiles) {
    const int64_t n = (vectors + tiles - 1) / tiles;  // even tiles: 7 vectors are 4 + 3
    TileLanes& m = lanes[tiles % kTiles];
    build_lanes<kStep>(a, q, static_cast<int>(n), m);
    run_tile<kStep, T>(a, t, m);
    vectors -= n;
    q += n * kLanes;
  }
}

template <class T, class Lanes>
void run_narrow(const RowLanesArgs& a, const Lanes& m, int64_t task) {
  const int64_t end = least((task + 1) * a.items_per_task, a.items);
  for (int64_t i = task * a.items_per_task; i < end; ++i) {
    const int64_t k = i % a.pairs * a.pair;
    narrow_planes<T>(a, m, i / a.pairs, k, least(k + a.pair, a.G));
  }
}

template <Step kStep, class T>
void run_items(const RowLanesArgs& a, int64_t task) {
  const int64_t first = task * a.items_per_task;
  const int64_t end = least(first + a.items_per_task, a.items);
  Item t = item_at(a, first);
  TileLanes lanes[kTiles];
  for (int64_t i = first; i < end; ++i, advance(a, t))
    run_item<kStep, T>(a, t, lanes);
}

template <class T>
void run_step(const RowLanesArgs& a, int64_t task) {
  if constexpr (kLanes == 16) {
    const bool narrow = a.mode == RowLanesMode::kNarrow;
    if (narrow && a.stride[2] == 1) return run_narrow<T>(a, narrow_lanes(a), task);
    if (narrow) return run_narrow<T>(a, halved_lanes(a), task);
  }
  if (a.stride[2] == 1) return run_items<Step::kOne, T>(a, task);
  if (a.stride[2] == 2) return run_items<Step::kTwo, T>(a, task);
  run_items<Step::kAny, T>(a, task);
}

inline void run_task(const RowLanesArgs& a, int64_t task) {
  if (a.dtype == DType::kF16) return run_step<F16>(a, task);
  if (a.dtype == DType::kBf16) return run_step<Bf16>(a, task);
  run_step<float>(a, task);
}

}  // namespace
}  // namespace convoy
