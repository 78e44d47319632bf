// Which channel, pixel and byte every lane of a block-diagonal kernel holds.
//
// Matrix steps multiply 16 pixels by 8 channels of input, a chunk of 16 bytes, into tiles of 8
// output channels; where groups are narrower than a tile, the filter matrix is block-diagonal.
#pragma once

#include "kernel/gpu/block_diagonal/block_diagonal_config.h"

namespace convoy {

inline constexpr u32 kChunk = 8;  // channels
inline constexpr u32 kChunkBytes = 16;

// The chunk that holds the first input channel of output channel k's group.
CONVOY_HD constexpr u32 first_chunk(u32 k, u32 cpg, u32 kpg) {
  return k / kpg * cpg / kChunk;
}

// The most chunks that `outputs` channels read, from any multiple of `outputs` on.
CONVOY_HD constexpr u32 most_chunks(u32 outputs, u32 cpg, u32 kpg) {
  u32 most = 0;
  for (u32 i = 0; i < kpg * kChunk; ++i) {  // then groups and chunks start together again
    const u32 last_group = (i * outputs + outputs - 1) / kpg;
    const u32 count =
        ((last_group + 1) * cpg - 1) / kChunk - first_chunk(i * outputs, cpg, kpg) + 1;
    if (count > most) most = count;
  }
  return most;
}

// What follows from a configuration. A set is `share` neighbouring tiles that read the same chunks.
struct BlockDiagonalShape {
  u32 share, sets;
  u32 chunks;        // that a set reads
  bool regular;      // each set's chunks follow those of the set before it
  u32 block_chunks;  // that a block reads
  u32 blocks;        // (tap, chunk) pairs of one filter row
  u32 pitch;  // bytes between pixels: an odd multiple of 16, so that 8 pixels differ in banks
  u32 columns, width;  // output columns of a warp and of a block
  u32 in_width;        // input columns that those read
  u32 plane;           // pixels between residues of the input column modulo the stride
  u32 row_slots;       // pixels of a stream's row in shared memory
  u32 stage_bytes, threads, outputs;  // outputs: channels of a block
  u32 live, period;  // output rows that a row may meet; rows until their slots repeat
};

CONVOY_HD constexpr BlockDiagonalShape shape_of(const BlockDiagonalConfig& c) {
  BlockDiagonalShape s{};
  const u32 cpg = c.cpg, kpg = c.kpg, tiles = c.tiles;
  s.share = 1;
  while (s.share < tiles &&
         most_chunks(16 * s.share, cpg, kpg) == most_chunks(8 * s.share, cpg, kpg)) {
    s.share *= 2;
  }
  s.sets = tiles / s.share;
  s.chunks = most_chunks(8 * s.share, cpg, kpg);
  s.regular = true;
  for (u32 k = 0; k < 64 * kpg; k += 8 * s.share) {
    const u32 next = first_chunk(k + 8 * s.share, cpg, kpg);
    s.regular = s.regular && next == first_chunk(k, cpg, kpg) + s.chunks;
  }
  s.outputs = 8 * tiles * c.k_warps;
  s.block_chunks = most_chunks(s.outputs, cpg, kpg);
  s.blocks = c.S * s.chunks;
  s.pitch = (s.block_chunks | 1) * kChunkBytes;
  s.columns = 16 / c.streams;
  s.width = s.columns * c.q_warps;
  const u32 stride = c.column_stride;
  s.in_width = (s.width - 1) * stride + (c.S - 1) * c.column_dilation + 1;
  s.plane = (s.in_width + stride - 1) / stride;
  s.row_slots = s.plane * stride;
  // Four columns of two streams are read at once: the second's must lie in the other four banks.
  while (c.streams == 4 && s.row_slots % 8 != 4)
    ++s.row_slots;
  s.stage_bytes = c.streams * s.row_slots * s.pitch;
  s.threads = 32 * c.k_warps * c.q_warps;
  s.live = (c.R + c.row_stride - 1) / c.row_stride;
  s.period = s.live * c.row_stride;
  return s;
}

// Pixels that the threads of a block copy at once, a chunk a thread; how often they do so for a
// row; and whether they can: a bit for each round tells which pixels are there.
CONVOY_HD constexpr u32 column_step(const BlockDiagonalShape& shape) {
  return shape.threads / shape.block_chunks;
}
CONVOY_HD constexpr u32 copy_rounds(const BlockDiagonalShape& shape) {
  const u32 step = column_step(shape);
  return step == 0 ? 0 : (shape.in_width + step - 1) / step;
}
CONVOY_HD constexpr bool can_copy(const BlockDiagonalShape& shape) {
  return column_step(shape) > 0 && copy_rounds(shape) <= 32;
}

CONVOY_HD constexpr u32 shared_bytes_of(const BlockDiagonalConfig& c) {
  const BlockDiagonalShape s = shape_of(c);
  return c.stages * s.stage_bytes + (c.epilogue.bias == BiasKind::kNone ? 0 : 4 * s.outputs);
}

// The pixel of a row in shared memory that holds input column `column` of the block: columns of one
// residue lie together, so that the pixels of a matrix are neighbours at every stride.
CONVOY_HD constexpr u32 slot_of(u32 column, u32 stride, u32 plane) {
  return column % stride * plane + column / stride;
}
CONVOY_HD constexpr u32 column_of(u32 slot, u32 stride, u32 plane) {
  return slot % plane * stride + slot / plane;
}

// The output channel, within its warp's, of column `column` of tile `tile`. The order within a set
// is free; this one leaves each lane, after the exchange of exchange_words(), with neighbours.
CONVOY_HD constexpr u32 channel_of(u32 tile, u32 column, u32 share, u32 sets) {
  const u32 set = tile / share, pair = column / 2;
  const u32 lane = (pair & ~(sets - 1)) | set;                   // of four, that stores the pair
  const u32 word = (pair ^ lane) % sets * share + tile % share;  // in that lane
  return set * 8 * share + lane / sets * 2 * share * sets + 2 * word + column % 2;
}

// The first channel, within its warp's, that lane t of four stores.
CONVOY_HD constexpr u32 stored_channel(u32 t, u32 share, u32 sets) {
  return t % sets * 8 * share + t / sets * 2 * share * sets;
}

}  // namespace convoy
