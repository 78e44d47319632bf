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

// What a block computes: output channels from k0, columns from q0, a unit for each stream.
template <BlockDiagonalConfig kC>
struct BlockDiagonalBlock {
  u32 k0, chunk0;
  i32 q0;
  i32 count;  // the most output rows of a unit
  BlockDiagonalUnit unit[kC.streams];

  CONVOY_DEVICE BlockDiagonalBlock(const BlockDiagonalArgs& args, u32 index) {
    constexpr BlockDiagonalShape kShape = shape_of(kC);
    k0 = index % args.channel_blocks * kShape.outputs;
    chunk0 = first_chunk(k0, kC.cpg, kC.kpg);
    index /= args.channel_blocks;
    q0 = static_cast<i32>(index % args.column_blocks * kShape.width);
    index = index / args.column_blocks * kC.streams;
    count = 0;
    CONVOY_UNROLL
    for (u32 i = 0; i < kC.streams; ++i) {
      unit[i] = unit_of(args, index + i);
      if (unit[i].count > count) count = unit[i].count;
    }
  }
};

// A thread's part of every row: one chunk of each kColumnStep-th pixel. Pixels and chunks that no
// tensor holds are zeroed once and never copied; rows that none holds are copied as zeros.
template <BlockDiagonalConfig kC>
struct BlockDiagonalRows {
  static constexpr BlockDiagonalShape kShape = shape_of(kC);
  static constexpr u32 kColumnStep = column_step(kShape);
  static constexpr u32 kRounds = copy_rounds(kShape);
  static_assert(can_copy(kShape));
  static constexpr i64 kElementBytes = sizeof(Storage<kC.elem>);

  static constexpr i32 kNoRow = -(1 << 30);  // no walk from here reaches the tensor

  const u8* x;                 // the tensor
  const u8* from[kC.streams];  // this thread's first pixel in the next row
  i32 row[kC.streams];         // next input row; far above the first where all is padding
  i32 plane[kC.streams];       // input plane of filter plane 0
  i32 column;                  // this thread's first column
  u8* to;                      // where its chunk lies in the first stage
  u32 wanted;                  // bit i: round i lies inside
  u32 column_bytes;            // from one round to the next
  i32 t = 0;                   // filter plane of the next row

  CONVOY_DEVICE BlockDiagonalRows(const BlockDiagonalArgs& args,
                                  const BlockDiagonalBlock<kC>& block, u8* ring) {
    const IgemmSizes& s = args.sizes;
    const i32 W = static_cast<i32>(s.in[2]);
    const i32 w0 = block.q0 * kC.column_stride - static_cast<i32>(s.pad_lo[2]);
    const u32 chunk = thread_index() % kShape.block_chunks;
    const u32 first = thread_index() / kShape.block_chunks;
    column = static_cast<i32>(first);
    to = shared_in_register(ring + slot_of(first, kC.column_stride, kShape.plane) * kShape.pitch +
                            chunk * kChunkBytes);
    const bool mine = first < kColumnStep && (block.chunk0 + chunk) * kChunk < s.C;
    wanted = 0;
    CONVOY_UNROLL
    for (u32 i = 0; i < kRounds; ++i) {
      const u32 at = first + i * kColumnStep;
      const i32 w = w0 + static_cast<i32>(at);
      if (mine && at < kShape.in_width && w >= 0 && w < W) wanted |= 1U << i;
    }
    x = static_cast<const u8*>(args.x);
    column_bytes = in_register(static_cast<u32>(kColumnStep * s.x_stride[4] * kElementBytes));
    CONVOY_UNROLL
    for (u32 i = 0; i < kC.streams; ++i) {
      const BlockDiagonalUnit& unit = block.unit[i];
      plane[i] = unit.z * static_cast<i32>(s.stride[0]) - static_cast<i32>(s.pad_lo[0]);
      const bool inside = kC.T > 1 || (plane[i] >= 0 && plane[i] < s.in[0]);
      row[i] = unit.phase * static_cast<i32>(s.stride[1]) - static_cast<i32>(s.pad_lo[1]) +
               args.row_step * kC.row_stride * unit.first;
      from[i] = x + kElementBytes * (unit.n * s.x_stride[0] + plane[i] * s.x_stride[2] +
                                     row[i] * s.x_stride[3] + (w0 + column) * s.x_stride[4] +
                                     (block.chunk0 + chunk) * kChunk);
      row[i] = in_register(unit.count > 0 && inside ? row[i] : kNoRow);
      from[i] = global_in_register(from[i]);
    }
    zero_outside(block, w0, W, s.C, ring);
  }

  CONVOY_DEVICE void zero_outside(const BlockDiagonalBlock<kC>& block, i32 w0, i32 W, i64 C,
                                  u8* ring) {
    constexpr u32 kItems = kC.streams * kShape.row_slots * kShape.block_chunks;
    CONVOY_NO_UNROLL
    for (u32 item = thread_index(); item < kItems; item += kShape.threads) {
      const u32 slot = item / kShape.block_chunks, chunk = item % kShape.block_chunks;
      const u32 in_row = slot % kShape.row_slots;
      const u32 at = column_of(in_row, kC.column_stride, kShape.plane);
      const i32 w = w0 + static_cast<i32>(at);
      const bool held = in_row < kShape.plane * kC.column_stride && at < kShape.in_width &&
                        w >= 0 && w < W && (block.chunk0 + chunk) * kChunk < C;
      if (held) continue;
      u8* zeroed = ring + slot * kShape.pitch + chunk * kChunkBytes;
      CONVOY_NO_UNROLL
      for (u32 stage = 0; stage < kC.stages; ++stage)
        write_whole(reinterpret_cast<Bytes16*>(zeroed + stage * kShape.stage_bytes), Bytes16{});
    }
  }

  // Starts the copies of the next row of every stream and steps to the row after it.
  CONVOY_DEVICE void copy_next(const BlockDiagonalArgs& args, i32 stage) {
    const IgemmSizes& s = args.sizes;
    const bool row_done = kC.T == 1 || t + 1 == kC.T;
    CONVOY_UNROLL
    for (u32 i = 0; i < kC.streams; ++i) {
      bool inside = static_cast<u32>(row[i]) < static_cast<u32>(s.in[1]);
      i64 ahead = 0;
      if constexpr (kC.T > 1) {
        const i32 z = plane[i] + t * static_cast<i32>(s.dilation[0]);
        inside = inside && static_cast<u32>(z) < static_cast<u32>(s.in[0]);
        ahead = t * s.dilation[0] * s.x_stride[2] * kElementBytes;
      }
      const u8* pixel = inside ? from[i] + ahead : x;
      CONVOY_UNROLL
      for (u32 j = 0; j < kRounds; ++j) {
        if ((wanted >> j & 1) != 0) {
          copy_async<16>(to + stage + round_at(i, j), pixel + j * column_bytes, inside);
        }
      }
      if (row_done) {
        from[i] += args.x_row_bytes;
        row[i] += args.row_step;
      }
    }
    t = row_done ? 0 : t + 1;
  }

  // Where round j of stream i goes, from the first round of the first stream, in bytes.
  CONVOY_DEVICE i32 round_at(u32 i, u32 j) const {
    constexpr u32 kStride = kC.column_stride;
    u32 slots = i * kShape.row_slots + j * (kColumnStep / kStride);
    if constexpr (kColumnStep % kStride != 0) {
      const u32 first = static_cast<u32>(column);
      slots = i * kShape.row_slots + slot_of(first + j * kColumnStep, kStride, kShape.plane) -
              slot_of(first, kStride, kShape.plane);
    }
    return static_cast<i32>(slots * kShape.pitch);
  }
};

}  // namespace convoy
