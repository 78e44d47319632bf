// Channels first: a thread computes neighbouring columns of a few output rows of k_tile channels.
#pragma once

#include "kernel/gpu/device/exact.h"
#include "kernel/gpu/direct/direct_index.h"
#include "kernel/gpu/direct/direct_memory.cuh"

namespace convoy {

template <DirectConfig kC>
struct DirectTile {
  i32 n, k, z, p, q;  // of its first output
  float sum[kC.k_tile][kC.p_tile][kC.q_tile];
};

template <DirectConfig kC>
CONVOY_DEVICE DirectTile<kC> direct_tile(const DirectArgs& args, i32 number) {
  const auto take = [&number](const Divider<i32>& by) {
    const i32 whole = by.quotient(number), part = number - whole * by.divisor();
    number = whole;
    return part;
  };
  DirectTile<kC> tile;
  tile.q = take(args.q_tiles) * kC.q_tile;
  tile.p = take(args.p_tiles) * kC.p_tile;
  tile.z = take(args.depths);
  tile.k = take(args.k_tiles) * kC.k_tile;
  tile.n = number;
  CONVOY_UNROLL
  for (int k = 0; k < kC.k_tile; ++k) {
    CONVOY_UNROLL
    for (int p = 0; p < kC.p_tile; ++p) {
      CONVOY_UNROLL
      for (int q = 0; q < kC.q_tile; ++q)
        tile.sum[k][p][q] = 0.0F;
    }
  }
  return tile;
}

template <DirectConfig kC>
struct DirectWeights {
  float tap[kC.k_tile][kC.rows][kC.S];
};

// Rows r.. of filter plane `plane` (c, t) of the tile's channels.
template <DirectConfig kC>
CONVOY_DEVICE DirectWeights<kC> direct_weights(const DirectArgs& args, i32 k0, i32 plane, i32 r0) {
  DirectWeights<kC> w;
  CONVOY_UNROLL
  for (int k = 0; k < kC.k_tile; ++k) {
    const i32 at = ((k0 + k) * (kC.cpg * kC.T) + plane) * (kC.R * kC.S) + r0 * kC.S;
    CONVOY_UNROLL
    for (int i = 0; i < kC.rows * kC.S; ++i)
      w.tap[k][i / kC.S][i % kC.S] = load_raw<kC.elem, 1>(args.w, at + i, true).element(0);
  }
  return w;
}

// Adds the products of one input row, `j` rows below the window's first.
template <DirectConfig kC>
CONVOY_DEVICE void add_row(DirectTile<kC>& tile, const DirectWeights<kC>& w, int j,
                           const float (&x)[shape_of(kC).vectors * kC.vector]) {
  CONVOY_UNROLL
  for (int p = 0; p < kC.p_tile; ++p) {
    const int r = tap_of(j, p, kC.row_stride, kC.rows, kC.row_dilation);
    if (r < 0) continue;
    CONVOY_UNROLL
    for (int s = 0; s < kC.S; ++s) {
      CONVOY_UNROLL
      for (int k = 0; k < kC.k_tile; ++k) {
        CONVOY_UNROLL
        for (int q = 0; q < kC.q_tile; ++q) {
          tile.sum[k][p][q] =
              fused_multiply_add(x[kC.lead + q * kC.column_stride + s * kC.column_dilation],
                                 w.tap[k][r][s], tile.sum[k][p][q]);
        }
      }
    }
  }
}

// Whether vector v of a row holds a column that some output of the tile reads.
template <DirectConfig kC>
CONVOY_HD constexpr bool vector_touched(int v) {
  for (int i = v * kC.vector; i < (v + 1) * kC.vector; ++i) {
    if (touches(i - kC.lead, kC.q_tile, kC.column_stride, kC.S, kC.column_dilation)) return true;
  }
  return false;
}

// `x` is the first element of an input plane. Vectors lie inside a row or outside as a whole.
template <DirectConfig kC>
CONVOY_DEVICE void add_plane(const DirectArgs& args, DirectTile<kC>& tile,
                             const DirectWeights<kC>& w, i32 x, i32 r0) {
  constexpr DirectShape kShape = shape_of(kC);
  const i32 H = static_cast<i32>(args.sizes.in[1]), W = static_cast<i32>(args.sizes.in[2]);
  const i32 h0 =
      tile.p * kC.row_stride - static_cast<i32>(args.sizes.pad_lo[1]) + r0 * kC.row_dilation;
  const i32 w0 = tile.q * kC.column_stride - static_cast<i32>(args.sizes.pad_lo[2]) - kC.lead;
  CONVOY_UNROLL
  for (int j = 0; j < kShape.window_rows; ++j) {
    if (!touches(j, kC.p_tile, kC.row_stride, kC.rows, kC.row_dilation)) continue;
    const bool row_inside = static_cast<u32>(h0 + j) < static_cast<u32>(H);
    const i32 row = x + (h0 + j) * W + w0;
    float values[kShape.vectors * kC.vector];
    CONVOY_UNROLL
    for (int v = 0; v < kShape.vectors; ++v) {
      if (!vector_touched<kC>(v)) continue;
      const bool inside = static_cast<u32>(w0 + v * kC.vector) < static_cast<u32>(W);
      const auto raw =
          load_raw<kC.elem, kC.vector>(args.x, row + v * kC.vector, row_inside && inside);
      CONVOY_UNROLL
      for (int i = 0; i < kC.vector; ++i)
        values[v * kC.vector + i] = raw.element(i);
    }
    add_row(tile, w, j, values);
  }
}

template <DirectConfig kC>
CONVOY_DEVICE float finish(float sum, float bias) {
  if constexpr (kC.epilogue.bias != BiasKind::kNone) sum += bias;
  return activate<kC.epilogue.act>(sum);
}

// Epilogue and stores; true where a sum is NaN.
template <DirectConfig kC>
CONVOY_DEVICE bool store_tile(const DirectArgs& args, const DirectTile<kC>& tile) {
  const i32 K = static_cast<i32>(args.sizes.K), Z = static_cast<i32>(args.sizes.out[0]);
  const i32 P = static_cast<i32>(args.sizes.out[1]), Q = static_cast<i32>(args.sizes.out[2]);
  bool nan = false;
  CONVOY_UNROLL
  for (int k = 0; k < kC.k_tile; ++k) {
    const float bias = bias_of<kC.elem, kC.epilogue.bias>(args, tile.k + k);
    const i32 plane = ((tile.n * K + tile.k + k) * Z + tile.z) * P;
    CONVOY_UNROLL
    for (int p = 0; p < kC.p_tile; ++p) {
      const i32 row = (plane + tile.p + p) * Q + tile.q;
      CONVOY_UNROLL
      for (int q = 0; q < kC.q_tile; q += kC.store) {
        float out[kC.store];
        CONVOY_UNROLL
        for (int i = 0; i < kC.store; ++i) {
          const float sum = tile.sum[k][p][q + i];
          nan = nan || is_nan(sum);
          out[i] = finish<kC>(sum, bias);
        }
        if (tile.p + p < P && tile.q + q < Q) store_vector<kC.elem>(args.y, row + q, out);
      }
    }
  }
  return nan;
}

// Once more, tap by tap: zeros stood for padding, and 0 * Inf is NaN.
template <DirectConfig kC>
CONVOY_DEVICE void repair(const DirectArgs& args, i32 n, i32 k0, i32 z, i32 p0, i32 q0) {
  CONVOY_NO_UNROLL
  for (i32 i = 0; i < kC.k_tile * kC.p_tile * kC.q_tile; ++i) {
    const i32 q = q0 + i % kC.q_tile, p = p0 + i / kC.q_tile % kC.p_tile;
    const i32 k = k0 + i / (kC.q_tile * kC.p_tile);
    if (p >= static_cast<i32>(args.sizes.out[1]) || q >= static_cast<i32>(args.sizes.out[2])) {
      continue;
    }
    store_exact<kC.elem, kC.epilogue.bias, kC.epilogue.act, i32>(args, {n, k, z, p, q});
  }
}

template <DirectConfig kC>
CONVOY_DEVICE void direct_rows(const DirectArgs& args) {
  const u32 flat = block_index() * kDirectThreads + thread_index();
  if (flat >= static_cast<u32>(args.total)) return;
  const i32 number = static_cast<i32>(flat);
  const IgemmSizes& sizes = args.sizes;
  DirectTile<kC> tile = direct_tile<kC>(args, number);
  const i32 C = static_cast<i32>(sizes.C), D = static_cast<i32>(sizes.in[0]);
  const i32 plane = static_cast<i32>(sizes.in[1]) * static_cast<i32>(sizes.in[2]);
  const i32 channel = tile.n * C + tile.k / kC.kpg * kC.cpg;
  const i32 d0 = tile.z * static_cast<i32>(sizes.stride[0]) - static_cast<i32>(sizes.pad_lo[0]);
  CONVOY_NO_UNROLL
  for (int t = 0; t < kC.T; ++t) {
    const i32 d = d0 + t * static_cast<i32>(sizes.dilation[0]);
    if (static_cast<u32>(d) >= static_cast<u32>(D)) continue;
    CONVOY_NO_UNROLL
    for (int r0 = 0; r0 < kC.R; r0 += kC.rows) {
      CONVOY_NO_UNROLL
      for (int c = 0; c < kC.cpg; ++c) {
        const auto w = direct_weights<kC>(args, tile.k, c * kC.T + t, r0);
        add_plane(args, tile, w, ((channel + c) * D + d) * plane, r0);
      }
    }
  }
  const i32 n = tile.n, k = tile.k, z = tile.z, p = tile.p, q = tile.q;
  if (store_tile(args, tile)) repair<kC>(args, n, k, z, p, q);
}

}  // namespace convoy
