// Forward convolution of narrow groups, channels last: rows stream through a ring in shared memory,
// and each fragment of a row meets every filter row that it concerns.
//
// Structural zeros and padding are multiplied, so an Inf or NaN may reach outputs that must not see
// it. It always shows as a NaN sum: a block that met one computes its outputs again, exactly.
#pragma once

#include "kernel/gpu/block_diagonal/block_diagonal_tile.cuh"
#include "kernel/gpu/device/exact.h"

namespace convoy {

// The ring of one block: the stage to read, the one to fill, and how many rows are left.
template <BlockDiagonalConfig kC>
struct BlockDiagonalRing {
  static constexpr i32 kStageBytes = static_cast<i32>(shape_of(kC).stage_bytes);

  i32 read_at, fill_at;  // bytes
  i32 rows, to_fill;     // input rows of the unit; stages still to fill

  static CONVOY_DEVICE i32 after(i32 stage) {
    return stage == (kC.stages - 1) * kStageBytes ? 0 : stage + kStageBytes;
  }
  CONVOY_DEVICE void fill_next(const BlockDiagonalArgs& args, BlockDiagonalRows<kC>& from) {
    if (to_fill > 0) from.copy_next(args, fill_at);
    commit_copies();
    --to_fill;
    fill_at = after(fill_at);
  }
};

// Rows of one period, from row i on; false after the last. kPhase is static so that sums stay in
// registers.
template <u32 kPhase, BlockDiagonalConfig kC>
CONVOY_DEVICE bool walk_period(const BlockDiagonalArgs& args, BlockDiagonalRing<kC>& ring,
                               BlockDiagonalRows<kC>& rows, BlockDiagonalTile<kC>& tile, i32 i) {
  using Tile = BlockDiagonalTile<kC>;
  constexpr i32 kBelow = static_cast<i32>(kPhase) - (kC.R - 1);
  if (i + static_cast<i32>(kPhase) >= ring.rows) return false;
  CONVOY_UNROLL
  for (u32 t = 0; t < kC.T; ++t) {
    wait_copies<kC.stages - 2>();
    sync_block();
    ring.fill_next(args, rows);
    if (t == 0 && kPhase % kC.row_stride == 0) {
      tile.start_row(tile.sums[Tile::template slot<kPhase>(0)]);
    }
    tile.template multiply_row<kPhase>(ring.read_at, t);
    ring.read_at = ring.after(ring.read_at);
  }
  if constexpr (kBelow % kC.row_stride == 0) {
    tile.finish_row(args, tile.sums[Tile::template slot<kPhase>(kC.R - 1)],
                    (i + kBelow) / kC.row_stride);
  }
  if constexpr (kPhase + 1 < shape_of(kC).period) {
    return walk_period<kPhase + 1>(args, ring, rows, tile, i);
  } else {
    return true;
  }
}

// Every output of the block, tap by tap.
template <BlockDiagonalConfig kC>
CONVOY_DEVICE void repair(const BlockDiagonalArgs& args) {
  constexpr BlockDiagonalShape kShape = shape_of(kC);
  // Places the block again: kept from before, the place would cost the loop registers.
  const BlockDiagonalBlock<kC> block(args, in_register(block_index()));
  CONVOY_UNROLL
  for (u32 stream = 0; stream < kC.streams; ++stream) {
    const BlockDiagonalUnit unit = block.unit[stream];
    const u32 total = static_cast<u32>(unit.count) * kShape.width * kShape.outputs;
    CONVOY_NO_UNROLL
    for (u32 item = thread_index(); item < total; item += kShape.threads) {
      const u32 pixel = item / kShape.outputs;
      const u32 j = unit.first + pixel / kShape.width;
      const OutputIndex at{.n = unit.n,
                           .k = block.k0 + item % kShape.outputs,
                           .z = unit.z,
                           .p = unit.phase + static_cast<i64>(args.phases) * j,
                           .q = block.q0 + pixel % kShape.width};
      if (at.k >= args.sizes.K || at.q >= args.sizes.out[2]) continue;
      store_exact<kC.elem, kC.epilogue.bias, kC.epilogue.act>(args, at);
    }
  }
}

// The bias by warp, tile and column, where start_row() looks for it.
template <BlockDiagonalConfig kC>
CONVOY_DEVICE void load_bias(const BlockDiagonalArgs& args, u32 k0, float* to) {
  constexpr BlockDiagonalShape kShape = shape_of(kC);
  constexpr u32 kOfWarp = 8 * kC.tiles;
  CONVOY_NO_UNROLL
  for (u32 i = thread_index(); i < kShape.outputs; i += kShape.threads) {
    const u32 k =
        k0 + i / kOfWarp * kOfWarp + channel_of(i % kOfWarp / 8, i % 8, kShape.share, kShape.sets);
    to[i] = k < args.sizes.K ? bias_of<kC.elem, kC.epilogue.bias>(args, k) : 0.0F;
  }
}

template <BlockDiagonalConfig kC>
CONVOY_DEVICE void block_diagonal(const BlockDiagonalArgs& args) {
  constexpr BlockDiagonalShape kShape = shape_of(kC);
  const BlockDiagonalBlock<kC> block(args, block_index());
  u8* memory = shared_memory<u8>();
  BlockDiagonalRows<kC> rows(args, block, memory);
  BlockDiagonalRing<kC> ring{.read_at = 0, .fill_at = 0};
  ring.rows = block.count > 0 ? (block.count - 1) * kC.row_stride + kC.R : 0;
  ring.to_fill = ring.rows * kC.T;
  CONVOY_NO_UNROLL
  for (u32 stage = 0; stage + 1 < kC.stages; ++stage)
    ring.fill_next(args, rows);

  float* bias = reinterpret_cast<float*>(memory + kC.stages * kShape.stage_bytes);
  if constexpr (kC.epilogue.bias != BiasKind::kNone) load_bias<kC>(args, block.k0, bias);
  BlockDiagonalTile<kC> tile(args, block, memory, bias);
  for (i32 i = 0; walk_period<0>(args, ring, rows, tile, i);)
    i += static_cast<i32>(kShape.period);
  if (any_in_block(tile.poisoned)) repair<kC>(args);
}

}  // namespace convoy
