// The tile of channel_lanes: T output columns of one vector of channels in registers.
//
// The sum of one output runs over t, r, the group's channels j, then s, in every tile shape, so
// that edges and tails never change a bit.
#pragma once

#include "kernel/cpu/channel_lanes/channel_lanes.h"
#include "kernel/cpu/finish.h"

namespace convoy {
namespace {

// Which columns of a tile of up to 8 may read tap s, a bit each. Rows of few tiles are tabulated
// whole, once a task; in longer rows each edge tile fills the table anew.
struct EdgeTable {
  bool whole_row;
  uint8_t bits[kMaxFilterColumns];
};

inline void fill_edges(const Geometry& g, int64_t q0, int columns, uint8_t* bits) {
  for (int64_t s = 0; s < g.filter[2]; ++s) {
    unsigned columns_inside = 0;
    for (int i = 0; i < columns; ++i) {
      const int64_t at = (q0 + i) * g.stride[2] - g.pad[2] + s * g.dilation[2];
      if (at >= 0 && at < g.in[2]) columns_inside |= 1U << i;
    }
    bits[s] = static_cast<uint8_t>(columns_inside);
  }
}

// Reads the channels of one pixel, spread over the lanes of the block.
template <class T, bool kIdentity, bool kMasked>
struct Reader {
  Mask mask;
  Index spread;
  Vec operator()(const T* p) const {
    const Vec v = kMasked ? load(mask, p) : load(p);
    return kIdentity ? v : permute(v, spread);
  }
};

// The output row of a tile.
struct Position {
  int64_t n, z, p;
};

// One tile: where it starts and what it may read.
struct Tile {
  const Geometry* g;
  int64_t q0;            // first output column
  const uint8_t* edges;  // bits by tap s, of an edge tile
  int64_t tap_step;      // floats from one tap's weights to the next
};

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

template <class T>
inline Vec load_bias(const Epilogue& e, int64_t k, Mask mask) {
  float lanes[kLanes] = {};
  for (int i = 0; i < kLanes; ++i) {
    if ((mask >> i & 1U) != 0) lanes[i] = bias_at<T>(e, k + i);
  }
  return load(lanes);
}

// What stays the same over the rows and tiles of one block.
template <class T>
struct Block {
  const T* x;      // first channel that the block reads
  T* y;            // first channel that the block writes
  const float* w;  // its packed weights
  Mask read_mask, write_mask;
  bool whole;  // no mask is needed
  Vec bias;
};

template <class T, bool kIdentity, bool kMasked, int kT>
inline void store_row(const Geometry& g, const Block<T>& block, Vec (&acc)[kT], int64_t q0,
                      const Position& at) {
#pragma GCC unroll 8
  for (int i = 0; i < kT; ++i)
    acc[i] = finish(acc[i], block.bias, g.epilogue.activation);
  T* out = block.y + at.n * g.y_stride[0] + at.z * g.y_stride[2] + at.p * g.y_stride[3] +
           q0 * g.y_stride[4];
#pragma GCC unroll 8
  for (int i = 0; i < kT; ++i) {
    if (kMasked || !kIdentity) {
      store(block.write_mask, out + i * g.y_stride[4], acc[i]);
    } else {
      store(out + i * g.y_stride[4], acc[i]);
    }
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

template <class T, bool kIdentity>
inline Block<T> make_block(const ChannelLanesArgs& a, int64_t b) {
  const Geometry& g = a.g;
  const LanePattern& pattern = a.pattern;
  const int64_t group = b / pattern.blocks_per_group * pattern.groups_per_block;
  const int64_t c0 = group * g.cpg;
  // A group that spans several blocks restarts its lanes in each group.
  const int64_t k0 = group * g.kpg + b % pattern.blocks_per_group * pattern.used;
  const int64_t k_end = pattern.blocks_per_group > 1 ? (group + 1) * g.kpg : g.K;
  const int64_t taps = g.filter[0] * g.filter[1] * g.filter[2];
  Block<T> block = {};
  block.x = static_cast<const T*>(g.x) + c0 * g.x_stride[1];
  block.y = static_cast<T*>(g.y) + k0 * g.y_stride[1];
  block.w = a.weights + b * taps * g.cpg * kLanes;
  block.read_mask = first_lanes(g.C - c0 < kLanes ? g.C - c0 : kLanes);
  block.write_mask = first_lanes(k_end - k0 < pattern.used ? k_end - k0 : pattern.used);
  const Mask all = first_lanes(kLanes);
  block.whole = block.read_mask == all && (!kIdentity || block.write_mask == all);
  block.bias = load_bias<T>(g.epilogue, k0, block.write_mask);
  return block;
}

// The tile of every block of the task: pixels hold their channels next to each other, so that the
// input streams through in its own order.
template <class T, bool kIdentity, int kT>
inline void compute_blocks(const ChannelLanesArgs& a, const Block<T>* blocks, int64_t count,
                           const Tile& tile, EdgeTable& edges, int64_t index, const Position& at,
                           int rows) {
  for (int64_t b = 0; b < count; ++b) {
    if (blocks[b].whole) {
      any_tile<T, kIdentity, false, kT>(a, blocks[b], tile, edges, index, at, rows);
    } else {
      any_tile<T, kIdentity, true, kT>(a, blocks[b], tile, edges, index, at, rows);
    }
  }
}

template <class T, bool kIdentity>
inline void compute_row(const ChannelLanesArgs& a, const Block<T>* blocks, int64_t count,
                        EdgeTable& edges, const Position& at, int rows) {
  Tile tile{&a.g, 0, nullptr, a.g.cpg * kLanes};
  for (int64_t index = 0; tile.q0 < a.g.out[2]; ++index) {
    const int columns = tile_columns(a.g.out[2], tile.q0);
    if (columns == 8)
      compute_blocks<T, kIdentity, 8>(a, blocks, count, tile, edges, index, at, rows);
    if (columns == 7)
      compute_blocks<T, kIdentity, 7>(a, blocks, count, tile, edges, index, at, rows);
    if (columns == 4)
      compute_blocks<T, kIdentity, 4>(a, blocks, count, tile, edges, index, at, rows);
    if (columns == 1)
      compute_blocks<T, kIdentity, 1>(a, blocks, count, tile, edges, index, at, rows);
    tile.q0 += columns;
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
  const int most = rows_at_once(g);
  while (at.p < p_end) {
    const int rows = p_end - at.p < most ? 1 : most;
    compute_row<T, kIdentity>(a, blocks, count, edges, at, rows);
    at.p += rows;
  }
}

template <class T>
inline void run_task(const ChannelLanesArgs& a, int64_t task) {
  const Geometry& g = a.g;
  const int64_t bands = (g.out[1] + a.band - 1) / a.band;
  const int64_t chunks = (a.pattern.blocks + a.chunk - 1) / a.chunk;
  const int64_t b0 = task % chunks * a.chunk;
  const Position at = {task / chunks / bands / g.out[0], task / chunks / bands % g.out[0],
                       task / chunks % bands * a.band};
  if (a.pattern.identity) return compute_band<T, true>(a, at, b0);
  compute_band<T, false>(a, at, b0);
}

inline void run_task_any(const ChannelLanesArgs& a, int64_t task) {
  if (a.g.dtype == DType::kF16) return run_task<F16>(a, task);
  if (a.g.dtype == DType::kBf16) return run_task<Bf16>(a, task);
  run_task<float>(a, task);
}

}  // namespace
}  // namespace convoy
