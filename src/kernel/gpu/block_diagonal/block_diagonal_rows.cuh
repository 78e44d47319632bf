// Where the units of a block lie, and the copies of their input rows into the ring.
#pragma once

#include "kernel/gpu/block_diagonal/block_diagonal_index.h"
#include "kernel/gpu/device/element.h"

namespace convoy {

// Output rows phase + phases*(first + j), 0 <= j < count, of plane z of image n.
struct BlockDiagonalUnit {
  i64 n;
  i32 z, phase, first, count;
};

CONVOY_DEVICE BlockDiagonalUnit unit_of(const BlockDiagonalArgs& args, u32 index) {
  BlockDiagonalUnit unit{};
  if (index >= args.units) return unit;
  unit.first = static_cast<i32>(index % args.strips) * args.segment;
  index /= args.strips;
  unit.phase = static_cast<i32>(index % args.phases);
  index /= args.phases;
  const u32 planes = static_cast<u32>(args.sizes.out[0]);
  unit.z = static_cast<i32>(index % planes);
  unit.n = index / planes;
  const i32 P = static_cast<i32>(args.sizes.out[1]), phases = static_cast<i32>(args.phases);
  const i32 left = (P - unit.phase + phases - 1) / phases - unit.first;
  unit.count = left < 0 ? 0 : left < args.segment ? left : args.segment;
  return unit;
}

// What a block computes: output channels from k0, columns from q0, units from `unit` on.
struct BlockDiagonalBlock {
  u32 k0, chunk0;
  i32 q0;
  u32 unit;
};
template <BlockDiagonalConfig kC>
CONVOY_DEVICE BlockDiagonalBlock this_block(const BlockDiagonalArgs& args) {
  constexpr BlockDiagonalShape kShape = shape_of(kC);
  u32 index = block_index();
  BlockDiagonalBlock block{};
  block.k0 = index % args.channel_blocks * kShape.outputs;
  block.chunk0 = first_chunk(block.k0, kC.cpg, kC.kpg);
  index /= args.channel_blocks;
  block.q0 = static_cast<i32>(index % args.column_blocks * kShape.width);
  block.unit = index / args.column_blocks * kC.streams;
  return block;
}

// A thread's part of every row: one chunk of each kColumnStep-th pixel. Pixels and chunks that no
// tensor holds are zeroed once and never copied; rows that none holds are copied as zeros.
template <BlockDiagonalConfig kC>
struct BlockDiagonalRows {
  static constexpr BlockDiagonalShape kShape = shape_of(kC);
  static constexpr u32 kColumnStep = kShape.threads / kShape.block_chunks;
  static constexpr u32 kRounds = (kShape.in_width + kColumnStep - 1) / kColumnStep;
  static_assert(kColumnStep > 0);
  using Stored = Storage<kC.elem>;

  const Stored* x[kC.streams];  // this thread's first pixel in row 0 of the plane (T = 1) or image
  i32 row[kC.streams], height[kC.streams];  // next input row; rows that are not padding
  i32 plane[kC.streams];                    // input plane of filter plane 0
  u32 column, chunk_at;                     // this thread's first column and its chunk in bytes
  u32 wanted;                               // bit i: round i lies inside
  i32 t = 0;                                // filter plane of the next row
  i32 count = 0;                            // the most output rows of a unit

  CONVOY_DEVICE BlockDiagonalRows(const BlockDiagonalArgs& args, const BlockDiagonalBlock& block,
                                  u8* ring) {
    const IgemmSizes& s = args.sizes;
    const i32 W = static_cast<i32>(s.in[2]),
              w0 = block.q0 * kC.column_stride - static_cast<i32>(s.pad_lo[2]);
    const u32 chunk = thread_index() % kShape.block_chunks;
    column = thread_index() / kShape.block_chunks;
    chunk_at = chunk * kChunkBytes;
    const bool mine = column < kColumnStep && (block.chunk0 + chunk) * kChunk < s.C;
    wanted = 0;
    CONVOY_UNROLL
    for (u32 i = 0; i < kRounds; ++i) {
      const u32 at = column + i * kColumnStep;
      const i32 w = w0 + static_cast<i32>(at);
      if (mine && at < kShape.in_width && w >= 0 && w < W) wanted |= 1U << i;
    }
    CONVOY_UNROLL
    for (u32 i = 0; i < kC.streams; ++i) {
      const BlockDiagonalUnit unit = unit_of(args, block.unit + i);
      if (unit.count > count) count = unit.count;
      plane[i] = unit.z * static_cast<i32>(s.stride[0]) - static_cast<i32>(s.pad_lo[0]);
      const bool inside = kC.T > 1 || (plane[i] >= 0 && plane[i] < s.in[0]);
      height[i] = unit.count > 0 && inside ? static_cast<i32>(s.in[1]) : 0;
      row[i] = unit.phase * static_cast<i32>(s.stride[1]) - static_cast<i32>(s.pad_lo[1]) +
               args.row_step * kC.row_stride * unit.first;
      x[i] = static_cast<const Stored*>(args.x) + unit.n * s.x_stride[0] +
             (w0 + static_cast<i32>(column)) * s.x_stride[4] + (block.chunk0 + chunk) * kChunk;
      if (kC.T == 1 && inside) x[i] += plane[i] * s.x_stride[2];
    }
    zero_outside(block, w0, W, s.C, ring);
  }

  CONVOY_DEVICE void zero_outside(const BlockDiagonalBlock& block, i32 w0, i32 W, i64 C, u8* ring) {
    constexpr u32 kItems = kC.streams * kShape.row_slots * kShape.block_chunks;
    CONVOY_NO_UNROLL
    for (u32 item = thread_index(); item < kItems; item += kShape.threads) {
      const u32 slot = item / kShape.block_chunks, chunk = item % kShape.block_chunks;
      const u32 at = column_of(slot % kShape.row_slots, kC.column_stride, kShape.plane);
      const i32 w = w0 + static_cast<i32>(at);
      const bool held = slot % kShape.row_slots < kShape.plane * kC.column_stride &&
                        at < kShape.in_width && w >= 0 && w < W &&
                        (block.chunk0 + chunk) * kChunk < C;
      if (held) continue;
      u8* to = ring + slot * kShape.pitch + chunk * kChunkBytes;
      CONVOY_NO_UNROLL
      for (u32 stage = 0; stage < kC.stages; ++stage)
        *reinterpret_cast<Bytes16*>(to + stage * kShape.stage_bytes) = {};
    }
  }

  // Starts the copies of the next row of every stream and steps to the row after it.
  CONVOY_DEVICE void copy_next(const BlockDiagonalArgs& args, u8* stage) {
    const IgemmSizes& s = args.sizes;
    CONVOY_UNROLL
    for (u32 i = 0; i < kC.streams; ++i) {
      bool inside = static_cast<u32>(row[i]) < static_cast<u32>(height[i]);
      i64 from = 0;
      if constexpr (kC.T > 1) {
        const i32 z = plane[i] + t * static_cast<i32>(s.dilation[0]);
        inside = inside && static_cast<u32>(z) < static_cast<u32>(s.in[0]);
        if (inside) from = z * s.x_stride[2];
      }
      if (inside) from += static_cast<i64>(row[i]) * static_cast<i32>(s.x_stride[3]);
      const Stored* pixel = x[i] + from;
      CONVOY_UNROLL
      for (u32 j = 0; j < kRounds; ++j) {
        if ((wanted >> j & 1) == 0) continue;
        const u32 slot = kColumnStep % kC.column_stride == 0
                             ? slot_of(column, kC.column_stride, kShape.plane) +
                                   j * (kColumnStep / kC.column_stride)
                             : slot_of(column + j * kColumnStep, kC.column_stride, kShape.plane);
        copy_async<16>(stage + (i * kShape.row_slots + slot) * kShape.pitch + chunk_at,
                       pixel + j * (kColumnStep * static_cast<u32>(s.x_stride[4])), inside);
      }
    }
    if (++t < kC.T) return;
    t = 0;
    CONVOY_UNROLL
    for (u32 i = 0; i < kC.streams; ++i)
      row[i] += args.row_step;
  }
};

}  // namespace convoy
