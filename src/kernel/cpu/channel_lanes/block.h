// What a tile of channel_lanes reads and writes: its block of lanes, its columns, its output row.
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

// Memory that the next band touches, asked for line by line while this band computes: a walk down
// the rows jumps from pixel to pixel, which no prefetcher of the machine follows into L3.
struct Ahead {
  const char* at;
  int64_t left, step;  // bytes; those of one request

  void ask() {
    constexpr int64_t kLine = 64;
    const int64_t now = left < step ? left : step;
    for (int64_t i = 0; i < now; i += kLine)
      __builtin_prefetch(at + i, 0, 2);
    at += now;
    left -= now;
  }
};

// The bytes [begin + from, begin + to) of an operand, in `requests` requests.
inline Ahead ahead_of(const void* begin, int64_t from, int64_t to, int64_t requests) {
  constexpr int64_t kLine = 64;
  const int64_t bytes = to > from ? to - from : 0;
  const int64_t step = (bytes / (requests > 0 ? requests : 1) / kLine + 1) * kLine;
  return {static_cast<const char*>(begin) + from, bytes, step};
}

template <class T>
inline Vec load_bias(const Epilogue& e, int64_t k, Mask mask) {
  float lanes[kLanes] = {};
  for (int i = 0; i < kLanes; ++i) {
    if ((mask >> i & 1U) != 0) lanes[i] = bias_at<T>(e, k + i);
  }
  return load(lanes);
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

template <class T, bool kIdentity, bool kMasked, int kT>
inline void store_row(const Geometry& g, const Block<T>& block, Vec (&acc)[kT], int64_t q0,
                      const Position& at) {
  finish_all(acc, block.bias, g.epilogue.activation);
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

}  // namespace
}  // namespace convoy
