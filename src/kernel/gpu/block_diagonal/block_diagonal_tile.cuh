// What a warp of a block-diagonal kernel holds: weights, sums, and how rows meet them.
#pragma once

#include "kernel/gpu/block_diagonal/block_diagonal_index.h"
#include "kernel/gpu/block_diagonal/block_diagonal_rows.cuh"
#include "kernel/gpu/device/epilogue.h"

namespace convoy {

template <BlockDiagonalConfig kC>
struct BlockDiagonalTile {
  static constexpr BlockDiagonalShape kShape = shape_of(kC);
  static constexpr u32 kTiles = kC.tiles, kSets = kShape.sets, kShare = kShape.share;
  static constexpr u32 kBlocks = kShape.blocks, kPairs = kBlocks / 2;
  static constexpr bool kOdd = kBlocks % 2 != 0;
  using E = Element<kC.elem>;
  using Stored = Storage<kC.elem>;
  using RowSums = float[kTiles][4];

  // One register per (tap, chunk) and tile: the weights of a lane's column and channel pair.
  u32 weights[kC.T][kC.R][kTiles][kBlocks];
  RowSums sums[kShape.live];
  u32 set_at[kSets];  // byte of a set's first chunk in this lane's pixel of a stage
  Stored* y[2];       // where this lane stores the two pixels of its next output row
  i32 rows_left[2];   // output rows that they still store
  const float* bias;  // in shared memory, at the warp's first channel
  bool poisoned = false;

  // Places the warp: the chunks of each set, and where this lane reads and stores.
  CONVOY_DEVICE BlockDiagonalTile(const BlockDiagonalArgs& args, const BlockDiagonalBlock& block) {
    const u32 lane = lane_index(), k_warp = warp_index() % kC.k_warps;
    const u32 q_warp = warp_index() / kC.k_warps, k0 = block.k0 + k_warp * 8 * kTiles;
    const u32 pixel = lane % 16;  // the row of two matrices that this lane points at
    const u32 at = pixel / kShape.columns * kShape.row_slots + q_warp * kShape.columns +
                   pixel % kShape.columns;
    u32 first[kSets];
    CONVOY_UNROLL
    for (u32 set = 0; set < kSets; ++set) {
      if (kShape.regular && set > 0) {
        first[set] = first[0] + set * kShape.chunks;
        set_at[set] = set_at[0] + set * kShape.chunks * kChunkBytes;
        continue;
      }
      // What a clamped set reads below its groups meets zeros.
      const u32 last = block.chunk0 + kShape.block_chunks - kShape.chunks;
      first[set] = first_chunk(k0 + set * 8 * kShare, kC.cpg, kC.kpg);
      if (first[set] > last) first[set] = last;
      set_at[set] = at * kShape.pitch + (first[set] - block.chunk0) * kChunkBytes;
    }
    CONVOY_UNROLL
    for (u32 half = 0; half < 2; ++half) {
      const u32 of_half = lane / 4 + 8 * half;
      const BlockDiagonalUnit unit = unit_of(args, block.unit + of_half / kShape.columns);
      const u32 q = block.q0 + q_warp * kShape.columns + of_half % kShape.columns;
      const u32 k = k0 + stored_channel(lane % 4, kShare, kSets);
      const i64(&stride)[5] = args.sizes.y_stride;
      y[half] = static_cast<Stored*>(args.y) + unit.n * stride[0] + unit.z * stride[2] +
                (unit.phase + static_cast<i64>(args.phases) * unit.first) * stride[3] +
                q * stride[4] + k;
      rows_left[half] = q < args.sizes.out[2] && k < args.sizes.K ? unit.count : 0;
    }
    load_weights(args, k0, first);
    CONVOY_UNROLL
    for (u32 slot = 0; slot < kShape.live; ++slot) {
      CONVOY_UNROLL
      for (u32 tile = 0; tile < kTiles; ++tile)
        sums[slot][tile][0] = sums[slot][tile][1] = sums[slot][tile][2] = sums[slot][tile][3] =
            0.0F;
    }
  }

  CONVOY_DEVICE void load_weights(const BlockDiagonalArgs& args, u32 k0,
                                  const u32 (&first)[kSets]) {
    const u32 pair = lane_index() % 4, column = lane_index() / 4;
    CONVOY_UNROLL
    for (u32 tile = 0; tile < kTiles; ++tile) {
      const u32 k = k0 + channel_of(tile, column, kShare, kSets);
      const i32 group_start = static_cast<i32>(k / kC.kpg * kC.cpg);
      const Stored* of_k =
          static_cast<const Stored*>(args.w) + static_cast<i64>(k) * (kC.T * kC.R * kC.S * kC.cpg);
      CONVOY_UNROLL
      for (u32 chunk = 0; chunk < kShape.chunks; ++chunk) {
        const i32 c =
            static_cast<i32>((first[tile / kShare] + chunk) * kChunk + 2 * pair) - group_start;
        const bool low = k < args.sizes.K && c >= 0 && c < kC.cpg;
        const bool high = k < args.sizes.K && c + 1 >= 0 && c + 1 < kC.cpg;
        CONVOY_UNROLL
        for (u32 row = 0; row < kC.T * kC.R; ++row) {
          CONVOY_UNROLL
          for (u32 s = 0; s < kC.S; ++s) {
            const Stored* at = of_k + static_cast<i32>((row * kC.S + s) * kC.cpg);
            weights[row / kC.R][row % kC.R][tile][s * kShape.chunks + chunk] =
                channel_pair(at, c, low, high);
          }
        }
      }
    }
  }

  // Channels c and c + 1 of a filter's tap, zero where not wanted.
  static CONVOY_DEVICE u32 channel_pair(const Stored* tap, i32 c, bool low, bool high) {
    if constexpr (kC.cpg % 2 == 0) {
      return low ? read_only(reinterpret_cast<const u32*>(tap + c)) : 0;
    } else if constexpr (kC.cpg == 1) {
      const u32 word = low || high ? static_cast<u32>(read_only(tap)) : 0;
      return high ? word << 16 : word;
    } else {
      const u32 word = low ? static_cast<u32>(read_only(tap + c)) : 0;
      return word | (high ? static_cast<u32>(read_only(tap + c + 1)) << 16 : 0);
    }
  }

  // The (tap, chunk) pair `block` relative to a pixel, in bytes.
  static constexpr u32 block_at(u32 block) {
    const u32 column = block / kShape.chunks * kC.column_dilation;
    return slot_of(column, kC.column_stride, kShape.plane) * kShape.pitch +
           block % kShape.chunks * kChunkBytes;
  }

  CONVOY_DEVICE void start_row(RowSums& row) {
    CONVOY_UNROLL
    for (u32 tile = 0; tile < kTiles; ++tile) {
      float low = 0.0F, high = 0.0F;
      if constexpr (kC.epilogue.bias != BiasKind::kNone) {
        const float* of_pair = bias + channel_of(tile, lane_index() % 4 * 2, kShare, kSets);
        low = of_pair[0];
        high = of_pair[1];
      }
      row[tile][0] = row[tile][2] = low;
      row[tile][1] = row[tile][3] = high;
    }
  }

  // Multiplies the row at `stage`, of filter plane t, into every output row that it meets.
  // Row i of the unit meets output j with filter row r = i - row_stride*j, and i = kPhase modulo
  // the period.
  template <u32 kPhase>
  CONVOY_DEVICE void multiply_row(const u8* stage, u32 t) {
    const u32 upper = lane_index() / 16;  // lanes that point at the second block of a quad
    CONVOY_UNROLL
    for (u32 set = 0; set < kSets; ++set) {
      CONVOY_UNROLL
      for (u32 i = 0; i < kPairs; ++i) {
        u32 quad[4];
        load_matrix(quad, stage + set_at[set] + upper * (block_at(2 * i + 1) - block_at(2 * i)) +
                              block_at(2 * i));
        CONVOY_UNROLL
        for (u32 r = 0; r < kC.R; ++r) {
          if ((kPhase + kShape.period * kC.R - r) % kC.row_stride != 0) continue;
          RowSums& row = sums[slot<kPhase>(r)];
          CONVOY_UNROLL
          for (u32 e = 0; e < kShare; ++e) {
            const u32 tile = set * kShare + e;
            const u32 b[2] = {weights[t][r][tile][2 * i], weights[t][r][tile][2 * i + 1]};
            multiply_add<E, 16>(row[tile], quad, b);
          }
        }
      }
    }
    if constexpr (kOdd) multiply_last<kPhase>(stage, t);
  }

  // The odd (tap, chunk) pair, of two sets at once.
  template <u32 kPhase>
  CONVOY_DEVICE void multiply_last(const u8* stage, u32 t) {
    const u32 upper = lane_index() / 16;
    CONVOY_UNROLL
    for (u32 set = 0; set < kSets; set += 2) {
      u32 halves[2][2];
      if (set + 1 < kSets) {
        u32 quad[4];
        load_matrix(quad, stage +
                              (upper != 0 ? set_at[set + 1 < kSets ? set + 1 : set] : set_at[set]) +
                              block_at(kBlocks - 1));
        CONVOY_UNROLL
        for (u32 i = 0; i < 4; ++i)
          halves[i / 2][i % 2] = quad[i];
      } else {
        load_matrix(halves[0], stage + set_at[set] + block_at(kBlocks - 1));
      }
      CONVOY_UNROLL
      for (u32 r = 0; r < kC.R; ++r) {
        if ((kPhase + kShape.period * kC.R - r) % kC.row_stride != 0) continue;
        RowSums& row = sums[slot<kPhase>(r)];
        CONVOY_UNROLL
        for (u32 tile = set * kShare; tile < (set + 2) * kShare && tile < kTiles; ++tile) {
          const u32 b[1] = {weights[t][r][tile][kBlocks - 1]};
          multiply_add<E, 8>(row[tile], halves[tile / kShare - set], b);
        }
      }
    }
  }

  // The slot of the output row that filter row r of a row in this phase meets.
  template <u32 kPhase>
  static constexpr u32 slot(u32 r) {
    return (kPhase + kShape.period * kC.R - r) / kC.row_stride % kShape.live;
  }

  // Turns words[tile] of this lane's column pair into words of neighbouring channels, those of
  // channel_of(), by an exchange among `sets` lanes.
  static CONVOY_DEVICE void exchange_words(u32 (&words)[kTiles]) {
    const u32 lane = lane_index();
    CONVOY_UNROLL
    for (u32 bit = 1; bit < kSets; bit *= 2) {  // words[set] <- words[set ^ lane % kSets]
      const bool swap = (lane & bit) != 0;
      CONVOY_UNROLL
      for (u32 i = 0; i < kTiles; ++i) {
        const u32 other = i + bit * kShare;
        if ((i / kShare & bit) != 0) continue;
        const u32 here = swap ? words[other] : words[i], there = swap ? words[i] : words[other];
        words[i] = here;
        words[other] = there;
      }
    }
    CONVOY_UNROLL
    for (u32 i = kShare; i < kTiles; ++i)
      words[i] = shuffle(words[i], lane ^ i / kShare);
  }

  CONVOY_DEVICE void finish_row(RowSums& row, i64 y_step, bool stores) {
    CONVOY_UNROLL
    for (u32 half = 0; half < 2; ++half) {
      u32 words[kTiles];
      CONVOY_UNROLL
      for (u32 tile = 0; tile < kTiles; ++tile) {
        const float a = row[tile][2 * half], b = row[tile][2 * half + 1];
        poisoned = poisoned || is_nan(a) || is_nan(b);
        words[tile] = E::round2(activate<kC.epilogue.act>(a), activate<kC.epilogue.act>(b));
      }
      exchange_words(words);
      if (!stores) continue;
      if (rows_left[half] > 0) store(words, y[half]);
      --rows_left[half];
      y[half] += y_step;
    }
  }

  static CONVOY_DEVICE void store(const u32 (&words)[kTiles], Stored* to) {
    if constexpr (kTiles == 4) {
      *reinterpret_cast<Bytes16*>(to) = {{words[0], words[1], words[2], words[3]}};
    } else {
      static_assert(kTiles == 2);
      *reinterpret_cast<Bytes8*>(to) = {{words[0], words[1]}};
    }
  }
};

}  // namespace convoy
