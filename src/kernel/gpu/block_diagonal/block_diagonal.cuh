// Forward convolution of narrow groups, channels last: rows stream through a ring in shared memory,
// and each fragment of a row meets every filter row that it concerns.
//
// Structural zeros and padding are multiplied, so an Inf or NaN may reach outputs that must not see
// it. It always shows as a NaN sum: a block that met one computes its outputs again, exactly.
#pragma once

#include "kernel/gpu/block_diagonal/block_diagonal_tile.cuh"
#include "kernel/gpu/device/exact.h"

namespace convoy {

// The ring of one block: which stage is read and which is filled, and how many rows are left.
struct BlockDiagonalRing {
  u8* memory;
  u32 read_at, fill_at;  // bytes
  i32 rows, to_fill;     // input rows of the unit; stages still to fill
};

CONVOY_DEVICE u32 next_stage(u32 at, u32 stage_bytes, u32 ring_bytes) {
  return at + stage_bytes == ring_bytes ? 0 : at + stage_bytes;
}

template <BlockDiagonalConfig kC>
CONVOY_DEVICE void fill_stage(const BlockDiagonalArgs& args, BlockDiagonalRing& ring,
                              BlockDiagonalRows<kC>& rows) {
  constexpr BlockDiagonalShape kShape = shape_of(kC);
  if (ring.to_fill > 0) rows.copy_next(args, ring.memory + ring.fill_at);
  commit_copies();
  --ring.to_fill;
  ring.fill_at = next_stage(ring.fill_at, kShape.stage_bytes, kC.stages * kShape.stage_bytes);
}

// Rows of one period, from row i on; kPhase is static so that sums stay in registers.
template <BlockDiagonalConfig kC, u32 kPhase>
CONVOY_DEVICE void walk_period(const BlockDiagonalArgs& args, BlockDiagonalRing& ring,
                               BlockDiagonalRows<kC>& rows, BlockDiagonalTile<kC>& tile, i32 i,
                               bool active) {
  constexpr BlockDiagonalShape kShape = shape_of(kC);
  using Tile = BlockDiagonalTile<kC>;
  if (i + static_cast<i32>(kPhase) < ring.rows) {
    CONVOY_UNROLL
    for (u32 t = 0; t < kC.T; ++t) {
      wait_copies<kC.stages - 2>();
      sync_block();
      fill_stage<kC>(args, ring, rows);
      if (active) {
        if (t == 0 && kPhase % kC.row_stride == 0)
          tile.start_row(tile.sums[Tile::template slot<kPhase>(0)]);
        tile.template multiply_row<kPhase>(ring.memory + ring.read_at, t);
      }
      ring.read_at = next_stage(ring.read_at, kShape.stage_bytes, kC.stages * kShape.stage_bytes);
    }
    if constexpr ((kPhase + kShape.period * kC.R - (kC.R - 1)) % kC.row_stride == 0) {
      if (active) {
        tile.finish_row(tile.sums[Tile::template slot<kPhase>(kC.R - 1)],
                        args.phases * args.sizes.y_stride[3],
                        i + static_cast<i32>(kPhase) >= kC.R - 1);
      }
    }
  }
  if constexpr (kPhase + 1 < kShape.period) {
    walk_period<kC, kPhase + 1>(args, ring, rows, tile, i, active);
  }
}

// Every output of the block, tap by tap.
template <BlockDiagonalConfig kC>
CONVOY_DEVICE void repair(const BlockDiagonalArgs& args, const BlockDiagonalBlock& block) {
  constexpr BlockDiagonalShape kShape = shape_of(kC);
  CONVOY_NO_UNROLL
  for (u32 stream = 0; stream < kC.streams; ++stream) {
    const BlockDiagonalUnit unit = unit_of(args, block.unit + stream);
    const u32 columns = kShape.width / kC.q_warps * kC.q_warps;
    const i64 total = static_cast<i64>(unit.count) * columns * kShape.outputs;
    CONVOY_NO_UNROLL
    for (i64 item = thread_index(); item < total; item += kShape.threads) {
      const i64 pixel = item / kShape.outputs;
      const OutputIndex at{
          .n = unit.n,
          .k = block.k0 + item % kShape.outputs,
          .z = unit.z,
          .p = unit.phase + static_cast<i64>(args.phases) * (unit.first + pixel / columns),
          .q = block.q0 + pixel % columns};
      if (at.k >= args.sizes.K || at.q >= args.sizes.out[2]) continue;
      store_exact<kC.elem, kC.epilogue.bias, kC.epilogue.act>(args, at);
    }
  }
}

template <BlockDiagonalConfig kC>
CONVOY_DEVICE void block_diagonal(const BlockDiagonalArgs& args) {
  constexpr BlockDiagonalShape kShape = shape_of(kC);
  const BlockDiagonalBlock block = this_block<kC>(args);
  u8* memory = shared_memory<u8>();
  BlockDiagonalRows<kC> rows(args, block, memory);
  const i32 count = rows.count;
  BlockDiagonalRing ring{.memory = memory, .read_at = 0, .fill_at = 0};
  ring.rows = count > 0 ? (count - 1) * kC.row_stride + kC.R : 0;
  ring.to_fill = ring.rows * kC.T;
  CONVOY_UNROLL
  for (u32 stage = 0; stage + 1 < kC.stages; ++stage)
    fill_stage<kC>(args, ring, rows);

  if constexpr (kC.epilogue.bias != BiasKind::kNone) {
    float* bias = reinterpret_cast<float*>(memory + kC.stages * kShape.stage_bytes);
    CONVOY_NO_UNROLL
    for (u32 k = thread_index(); k < kShape.outputs; k += kShape.threads)
      bias[k] = block.k0 + k < args.sizes.K ? bias_of<kC.elem, kC.epilogue.bias>(args, block.k0 + k)
                                            : 0.0F;
  }
  BlockDiagonalTile<kC> tile(args, block);
  tile.bias = reinterpret_cast<const float*>(memory + kC.stages * kShape.stage_bytes) +
              warp_index() % kC.k_warps * 8 * kC.tiles;
  const bool active = block.k0 + warp_index() % kC.k_warps * 8 * kC.tiles < args.sizes.K;
  CONVOY_NO_UNROLL
  for (i32 i = 0; i < ring.rows; i += static_cast<i32>(kShape.period))
    walk_period<kC, 0>(args, ring, rows, tile, i, active);
  if (any_in_block(tile.poisoned)) repair<kC>(args, block);
}

}  // namespace convoy
