// Channels last: a thread computes k_tile neighbouring channels of p_tile x q_tile outputs. Weights
// wait in shared memory as f32, channel by channel.
#pragma once

#include "kernel/gpu/direct/direct_rows.cuh"

namespace convoy {

// Whether a thread's channels are groups of one channel each, or outputs of one group.
template <DirectConfig kC>
inline constexpr bool kElementwise = kC.cpg == 1 && kC.kpg == 1;

// Copies filter rows `first`.. of the block's channels k0.. to shared memory: [row, s, c][channel].
template <DirectConfig kC>
CONVOY_DEVICE void stage_weights(const DirectArgs& args, i32 k0, i32 first) {
  constexpr DirectShape kShape = shape_of(kC);
  constexpr int kRun = kShape.staged_rows * kShape.taps;
  const i32 K = static_cast<i32>(args.sizes.K);
  float* staged = shared_memory<float>();
  constexpr i32 kAll = kRun * kShape.channels;
  CONVOY_NO_UNROLL
  for (i32 i0 = static_cast<i32>(thread_index()); i0 < kAll; i0 += kDirectThreads * kStagedAtOnce) {
    // All loads are under way before the first is waited for.
    Raw<kC.elem, 1> raw[kStagedAtOnce];
    CONVOY_UNROLL
    for (int j = 0; j < kStagedAtOnce; ++j) {
      const i32 i = i0 + j * kDirectThreads, k = i / kRun;
      const i32 at = (k0 + k) * (kC.T * kC.R * kShape.taps) + first * kShape.taps + i % kRun;
      raw[j] = load_raw<kC.elem, 1>(args.w, at, i < kAll && k0 + k < K);
    }
    CONVOY_UNROLL
    for (int j = 0; j < kStagedAtOnce; ++j) {
      const i32 i = i0 + j * kDirectThreads;
      if (i < kAll) staged[i % kRun * kShape.pitch + i / kRun] = raw[j].element(0);
    }
  }
}

template <DirectConfig kC>
struct ChannelTile {
  i32 n, k, z, p, q;
  float sum[kC.p_tile][kC.q_tile][kC.k_tile];
};

// Adds the products of one input vector, in row j and column i of the window.
template <DirectConfig kC>
CONVOY_DEVICE void add_vector(
    ChannelTile<kC>& tile,
    const float (&w)[kC.rows][kC.S][kElementwise<kC> ? 1 : kC.vector][kC.k_tile], int j, int i,
    const Raw<kC.elem, kC.vector>& raw) {
  float x[kC.vector];
  CONVOY_UNROLL
  for (int c = 0; c < kC.vector; ++c)
    x[c] = raw.element(c);
  CONVOY_UNROLL
  for (int p = 0; p < kC.p_tile; ++p) {
    const int r = tap_of(j, p, kC.row_stride, kC.rows, kC.row_dilation);
    if (r < 0) continue;
    CONVOY_UNROLL
    for (int q = 0; q < kC.q_tile; ++q) {
      const int s = tap_of(i, q, kC.column_stride, kC.S, kC.column_dilation);
      if (s < 0) continue;
      CONVOY_UNROLL
      for (int k = 0; k < kC.k_tile; ++k) {
        if constexpr (kElementwise<kC>) {
          tile.sum[p][q][k] = fused_multiply_add(x[k], w[r][s][0][k], tile.sum[p][q][k]);
        } else {
          CONVOY_UNROLL
          for (int c = 0; c < kC.vector; ++c)
            tile.sum[p][q][k] = fused_multiply_add(x[c], w[r][s][c][k], tile.sum[p][q][k]);
        }
      }
    }
  }
}

// Channels c.. of the input plane that starts at element x, with the weights of filter row `row` of
// those in shared memory.
template <DirectConfig kC>
CONVOY_DEVICE void add_channels(const DirectArgs& args, ChannelTile<kC>& tile, i32 x, i32 r0,
                                i32 row, i32 c, i32 lane) {
  constexpr DirectShape kShape = shape_of(kC);
  constexpr int kInputs = kElementwise<kC> ? 1 : kC.vector;
  const float* staged = shared_memory<float>() + lane * kC.k_tile;
  float w[kC.rows][kC.S][kInputs][kC.k_tile];
  CONVOY_UNROLL
  for (int r = 0; r < kC.rows; ++r) {
    CONVOY_UNROLL
    for (int s = 0; s < kC.S; ++s) {
      CONVOY_UNROLL
      for (int i = 0; i < kInputs; ++i) {
        const i32 tap = (row + r) * kShape.taps + s * kC.cpg + c + i;
        CONVOY_UNROLL
        for (int k = 0; k < kC.k_tile; ++k)
          w[r][s][i][k] = staged[tap * kShape.pitch + k];
      }
    }
  }
  const i32 C = static_cast<i32>(args.sizes.C), H = static_cast<i32>(args.sizes.in[1]);
  const i32 W = static_cast<i32>(args.sizes.in[2]);
  const i32 h0 =
      tile.p * kC.row_stride - static_cast<i32>(args.sizes.pad_lo[1]) + r0 * kC.row_dilation;
  const i32 w0 = tile.q * kC.column_stride - static_cast<i32>(args.sizes.pad_lo[2]);
  CONVOY_UNROLL
  for (int j = 0; j < kShape.window_rows; ++j) {
    if (!touches(j, kC.p_tile, kC.row_stride, kC.rows, kC.row_dilation)) continue;
    const bool row_inside = static_cast<u32>(h0 + j) < static_cast<u32>(H);
    const i32 at = x + ((h0 + j) * W + w0) * C + c;
    CONVOY_UNROLL
    for (int i = 0; i < kShape.window_columns; ++i) {
      if (!touches(i, kC.q_tile, kC.column_stride, kC.S, kC.column_dilation)) continue;
      const bool inside = row_inside && static_cast<u32>(w0 + i) < static_cast<u32>(W);
      add_vector(tile, w, j, i, load_raw<kC.elem, kC.vector>(args.x, at + i * C, inside));
    }
  }
}

// Epilogue and stores; true where a sum is NaN.
template <DirectConfig kC>
CONVOY_DEVICE bool store_channels(const DirectArgs& args, const ChannelTile<kC>& tile) {
  const i32 K = static_cast<i32>(args.sizes.K), Z = static_cast<i32>(args.sizes.out[0]);
  const i32 P = static_cast<i32>(args.sizes.out[1]), Q = static_cast<i32>(args.sizes.out[2]);
  float bias[kC.k_tile];
  CONVOY_UNROLL
  for (int k = 0; k < kC.k_tile; ++k)
    bias[k] = bias_of<kC.elem, kC.epilogue.bias>(args, tile.k + k);
  const i32 first = ((tile.n * Z + tile.z) * P + tile.p) * Q + tile.q;
  bool nan = false;
  CONVOY_UNROLL
  for (int p = 0; p < kC.p_tile; ++p) {
    CONVOY_UNROLL
    for (int q = 0; q < kC.q_tile; ++q) {
      float out[kC.k_tile];
      CONVOY_UNROLL
      for (int k = 0; k < kC.k_tile; ++k) {
        nan = nan || is_nan(tile.sum[p][q][k]);
        out[k] = finish<kC>(tile.sum[p][q][k], bias[k]);
      }
      if (tile.p + p < P && tile.q + q < Q) {
        store_vector<kC.elem>(args.y, (first + p * Q + q) * K + tile.k, out);
      }
    }
  }
  return nan;
}

template <DirectConfig kC>
CONVOY_DEVICE ChannelTile<kC> channel_tile(const DirectArgs& args, i32 position, i32 k) {
  const auto take = [&position](const Divider<i32>& by) {
    const i32 whole = by.quotient(position), part = position - whole * by.divisor();
    position = whole;
    return part;
  };
  ChannelTile<kC> tile;
  tile.q = take(args.q_tiles) * kC.q_tile;
  tile.p = take(args.p_tiles) * kC.p_tile;
  tile.z = take(args.depths);
  tile.n = position;
  tile.k = k;
  CONVOY_UNROLL
  for (int i = 0; i < kC.p_tile * kC.q_tile * kC.k_tile; ++i)
    tile.sum[i / (kC.q_tile * kC.k_tile)][i / kC.k_tile % kC.q_tile][i % kC.k_tile] = 0.0F;
  return tile;
}

// Every thread of the block comes here: the barriers are between stages of weights.
template <DirectConfig kC>
CONVOY_DEVICE void direct_position(const DirectArgs& args, i32 position, i32 k_block, i32 lane) {
  constexpr DirectShape kShape = shape_of(kC);
  constexpr bool kWhole = kShape.staged_rows == kC.T * kC.R;
  const IgemmSizes& sizes = args.sizes;
  const i32 k0 = k_block + lane * kC.k_tile;
  const bool active = position < args.total && k0 < static_cast<i32>(sizes.K);
  ChannelTile<kC> tile = channel_tile<kC>(args, active ? position : 0, k0);
  const i32 D = static_cast<i32>(sizes.in[0]);
  const i32 plane =
      static_cast<i32>(sizes.in[1]) * static_cast<i32>(sizes.in[2]) * static_cast<i32>(sizes.C);
  const i32 channel = k0 / kC.kpg * kC.cpg;
  const i32 d0 = tile.z * static_cast<i32>(sizes.stride[0]) - static_cast<i32>(sizes.pad_lo[0]);
  CONVOY_NO_UNROLL
  for (int t = 0; t < kC.T; ++t) {
    const i32 d = d0 + t * static_cast<i32>(sizes.dilation[0]);
    const bool depth_inside = static_cast<u32>(d) < static_cast<u32>(D);
    CONVOY_NO_UNROLL
    for (int r0 = 0; r0 < kC.R; r0 += kC.rows) {
      if constexpr (!kWhole) {
        sync_block();
        stage_weights<kC>(args, k_block, t * kC.R + r0);
        sync_block();
      }
      if (!active || !depth_inside) continue;
      constexpr int kStep = kElementwise<kC> ? 1 : kC.vector;
      CONVOY_NO_UNROLL
      for (int c = 0; c < kC.cpg; c += kStep) {
        add_channels(args, tile, (tile.n * D + d) * plane + channel, r0, kWhole ? t * kC.R + r0 : 0,
                     c, lane);
      }
    }
  }
  if (!active) return;
  const i32 n = tile.n, z = tile.z, p = tile.p, q = tile.q;
  if (store_channels(args, tile)) repair<kC>(args, n, k0, z, p, q);
}

template <DirectConfig kC>
CONVOY_DEVICE void direct_channels(const DirectArgs& args) {
  constexpr DirectShape kShape = shape_of(kC);
  const i32 block = static_cast<i32>(block_index());
  const i32 group = args.k_tiles.quotient(block);
  const i32 k_block = (block - group * args.k_tiles.divisor()) * kShape.channels;
  const i32 lane = static_cast<i32>(thread_index()) % kC.lanes;
  if constexpr (kShape.staged_rows == kC.T * kC.R) {
    stage_weights<kC>(args, k_block, 0);
    sync_block();
  }
  i32 position = group * args.walk * kShape.positions + static_cast<i32>(thread_index()) / kC.lanes;
  CONVOY_NO_UNROLL
  for (i32 i = 0; i < args.walk; ++i) {
    direct_position<kC>(args, position, k_block, lane);
    position += kShape.positions;
  }
}

}  // namespace convoy
