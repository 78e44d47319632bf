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
  // The first output row that is finished: it began above the unit and is not stored.
  static constexpr i32 kFirstRow = -((kC.R - 1) / kC.row_stride);

  // One register per (tap, chunk) and tile: the weights of a lane's column and channel pair.
  u32 weights[kC.T][kC.R][kTiles][kBlocks];
  RowSums sums[kShape.live];
  // This lane's pixel in the first stage: for the quads, where half of the lanes point at the
  // second block of a pair, and for the last block, where half point at the next set.
  const u8* pair_base[kPairs + 1];
  const u8* last_base[(kSets + 1) / 2];
  i32 set_apart[kSets];  // bytes from the first set's first chunk to each set's
  u8* y[2];              // where this lane stores its two pixels of the next row to finish
  u32 rows[2];           // output rows of their units
  u32 inside;            // bit i: pixel i and this lane's channels exist
  const float* bias;     // in shared memory, of this lane's columns in the first tile
  bool poisoned = false;

  // Places the warp: the chunks of each set, and where this lane reads and stores.
  CONVOY_DEVICE BlockDiagonalTile(const BlockDiagonalArgs& args,
                                  const BlockDiagonalBlock<kC>& block, const u8* ring,
                                  const float* biases) {
    const u32 lane = lane_index(), k_warp = warp_index() % kC.k_warps;
    const u32 q_warp = warp_index() / kC.k_warps, k0 = block.k0 + k_warp * 8 * kTiles;
    const u32 pixel = lane % 16;  // the row of two matrices that this lane points at
    const u32 at = pixel / kShape.columns * kShape.row_slots + q_warp * kShape.columns +
                   pixel % kShape.columns;
    u32 first[kSets];
    CONVOY_UNROLL
    for (u32 set = 0; set < kSets; ++set) {
      // What a clamped set reads below its groups meets zeros.
      const u32 last = block.chunk0 + kShape.block_chunks - kShape.chunks;
      first[set] = first_chunk(k0 + set * 8 * kShare, kC.cpg, kC.kpg);
      if (first[set] > last) first[set] = last;
      if (kShape.regular && set > 0) first[set] = first[0] + set * kShape.chunks;
      const i32 apart = static_cast<i32>((first[set] - first[0]) * kChunkBytes);
      set_apart[set] = kShape.regular ? apart : in_register(apart);
    }
    const u8* base = ring + at * kShape.pitch + (first[0] - block.chunk0) * kChunkBytes;
    const bool upper = lane >= 16;
    CONVOY_UNROLL
    for (u32 i = 0; i < kPairs; ++i) {
      if (base_of_pair(i) == i)
        pair_base[i] = shared_in_register(base + (upper ? pair_apart(i) : 0));
    }
    CONVOY_UNROLL
    for (u32 set = 0; kOdd && set < kSets; set += 2) {
      const u32 next = set + 1 < kSets ? set + 1 : set;
      if (set == 0 || !kShape.regular) {
        last_base[set / 2] = shared_in_register(base + (upper ? set_apart[next] : set_apart[set]));
      }
    }
    const u32 k = k0 + stored_channel(lane % 4, kShare, kSets);
    inside = 0;
    CONVOY_UNROLL
    for (u32 half = 0; half < 2; ++half) {
      const u32 of_half = lane / 4 + 8 * half;
      BlockDiagonalUnit unit = block.unit[0];
      CONVOY_UNROLL
      for (u32 i = 1; i < kC.streams; ++i)
        if (of_half / kShape.columns == i) unit = block.unit[i];
      const u32 q = block.q0 + q_warp * kShape.columns + of_half % kShape.columns;
      const i64(&stride)[5] = args.sizes.y_stride;
      y[half] = static_cast<u8*>(args.y) +
                sizeof(Stored) * (unit.n * stride[0] + unit.z * stride[2] + unit.phase * stride[3] +
                                  q * stride[4] + k) +
                (unit.first + kFirstRow) * args.y_row_bytes;
      y[half] = global_in_register(y[half]);
      rows[half] = static_cast<u32>(unit.count);
      if (q < args.sizes.out[2] && k < args.sizes.K) inside |= 1U << half;
    }
    if constexpr (kC.epilogue.bias != BiasKind::kNone)
      bias = shared_in_register(biases + k_warp * 8 * kTiles + lane % 4 * 2);
    inside = in_register(inside);
    load_weights(args, k0, first);
    CONVOY_UNROLL
    for (u32 slot = 0; slot < kShape.live; ++slot)
      start_row(sums[slot]);
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
  static constexpr i32 block_at(u32 block) {
    const u32 column = block / kShape.chunks * kC.column_dilation;
    return static_cast<i32>(slot_of(column, kC.column_stride, kShape.plane) * kShape.pitch +
                            block % kShape.chunks * kChunkBytes);
  }

  // From the first block of pair i to the second; and the first pair as far apart, which shares its
  // base. Signed offsets let constants become part of an instruction.
  static constexpr i32 pair_apart(u32 i) { return block_at(2 * i + 1) - block_at(2 * i); }
  static constexpr u32 base_of_pair(u32 i) {
    u32 first = 0;
    while (pair_apart(first) != pair_apart(i))
      ++first;
    return first;
  }

  static CONVOY_DEVICE void start_row(RowSums& row) {
    CONVOY_UNROLL
    for (u32 tile = 0; tile < kTiles; ++tile)
      row[tile][0] = row[tile][1] = row[tile][2] = row[tile][3] = 0.0F;
  }

  // Multiplies the row at `stage`, of filter plane t, into every output row that it meets.
  // Row i of the unit meets output j with filter row r = i - row_stride*j, and i = kPhase modulo
  // the period.
  template <u32 kPhase>
  CONVOY_DEVICE void multiply_row(i32 stage, u32 t) {
    CONVOY_UNROLL
    for (u32 set = 0; set < kSets; ++set) {
      CONVOY_UNROLL
      for (u32 i = 0; i < kPairs; ++i) {
        u32 quad[4];
        load_matrix(quad, pair_base[base_of_pair(i)] + stage + (set_apart[set] + block_at(2 * i)));
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
      if constexpr (kOdd) {
        if (set % 2 == 1 || set + 1 == kSets) multiply_last<kPhase>(stage, t, set / 2 * 2);
      }
    }
  }

  // The odd (tap, chunk) pair, of two sets at once.
  template <u32 kPhase>
  CONVOY_DEVICE void multiply_last(i32 stage, u32 t, u32 set) {
    u32 halves[2][2];
    const u8* from = kShape.regular
                         ? last_base[0] + stage + (set_apart[set] + block_at(kBlocks - 1))
                         : last_base[set / 2] + stage + block_at(kBlocks - 1);
    if (set + 1 < kSets) {
      u32 quad[4];
      load_matrix(quad, from);
      CONVOY_UNROLL
      for (u32 i = 0; i < 4; ++i)
        halves[i / 2][i % 2] = quad[i];
    } else {
      load_matrix(halves[0], from);
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
    for (u32 i = 0; i < kShare; ++i) {
      if constexpr (kSets > 1) words[kShare + i] = shuffle_xor<1>(words[kShare + i]);
      if constexpr (kSets > 2) {
        words[2 * kShare + i] = shuffle_xor<2>(words[2 * kShare + i]);
        words[3 * kShare + i] = shuffle_xor<3>(words[3 * kShare + i]);
      }
    }
  }

  // Two neighbouring channels of a tile: bias, activation and rounding.
  CONVOY_DEVICE u32 finish_pair(float a, float b, u32 tile) const {
    if constexpr (kC.epilogue.bias != BiasKind::kNone) {
      const Bytes8 pair = read_whole(reinterpret_cast<const Bytes8*>(bias + 8 * tile));
      a += f32_from_bits(pair.word[0]);
      b += f32_from_bits(pair.word[1]);
    }
    return E::round2(activate<kC.epilogue.act>(a), activate<kC.epilogue.act>(b));
  }

  // Stores output row j of the unit, if it has one.
  CONVOY_DEVICE void finish_row(const BlockDiagonalArgs& args, RowSums& row, i32 j) {
    CONVOY_UNROLL
    for (u32 half = 0; half < 2; ++half) {
      u32 words[kTiles];
      CONVOY_UNROLL
      for (u32 tile = 0; tile < kTiles; ++tile) {
        const float a = row[tile][2 * half], b = row[tile][2 * half + 1];
        poisoned = poisoned || (static_cast<u32>(is_nan(a)) | static_cast<u32>(is_nan(b))) != 0;
        words[tile] = finish_pair(a, b, tile);
      }
      exchange_words(words);
      // In one stream the last row that is read finishes the last output row, and the second pixel
      // lies 8 columns on: neither a count nor a second pointer is carried.
      constexpr bool kOneStream = kC.streams == 1;
      const i64 apart = kOneStream && half == 1 ? 8 * args.sizes.y_stride[4] * sizeof(Stored) : 0;
      if ((kOneStream ? j >= 0 : static_cast<u32>(j) < rows[half]) && (inside >> half & 1) != 0) {
        store(words, y[kOneStream ? 0 : half] + apart);
      }
    }
    CONVOY_UNROLL
    for (u32 stream = 0; stream < 2 && stream < kC.streams; ++stream)
      y[stream] += args.y_row_bytes;
  }

  static CONVOY_DEVICE void store(const u32 (&words)[kTiles], u8* to) {
    if constexpr (kTiles == 4) {
      write_whole(reinterpret_cast<Bytes16*>(to),
                  Bytes16{{words[0], words[1], words[2], words[3]}});
    } else {
      static_assert(kTiles == 2);
      write_whole(reinterpret_cast<Bytes8*>(to), Bytes8{{words[0], words[1]}});
    }
  }
};

}  // namespace convoy
