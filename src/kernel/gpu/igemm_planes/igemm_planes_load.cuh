// The implicit GEMM over channel planes: the loads of one step.
#pragma once

#include "kernel/gpu/igemm_planes/igemm_planes_facts.cuh"

namespace convoy {

template <IgemmPlanesConfig kConfig>
struct IgemmPlanesLoad : IgemmPlanesFacts<kConfig> {
  using Facts = IgemmPlanesFacts<kConfig>;
  using Facts::kBlockK, Facts::kColumns, Facts::kElementBytes, Facts::kGemmK, Facts::kHasAxis,
      Facts::kHeldW, Facts::kHeldX, Facts::kLinesAtOnce, Facts::kLinesW, Facts::kMasked,
      Facts::kOwned, Facts::kPieceBytes, Facts::kPieces, Facts::kPitch, Facts::kRowsAtOnce,
      Facts::kRowsX, Facts::kTaps, Facts::kWhole;
  using typename Facts::Columns, typename Facts::Held, typename Facts::Stored, typename Facts::Tap,
      typename Facts::Tile;

  static CONVOY_DEVICE Tile tile_of(const IgemmPlanesArgs& args) {
    const i32 block = static_cast<i32>(block_index());
    const i32 rest = args.n_tiles.quotient(block);
    const i32 m = kConfig.grouped ? args.groups.quotient(rest) : rest;
    return {kConfig.grouped ? rest - m * args.groups.divisor() : 0, m * kConfig.block_m,
            (block - rest * args.n_tiles.divisor()) * kConfig.block_n};
  }

  static CONVOY_DEVICE i32 narrow(i64 v) { return static_cast<i32>(v); }
  static CONVOY_DEVICE bool is_inside(i32 position, i64 extent) {
    return static_cast<u32>(position) < static_cast<u32>(extent);
  }
  static constexpr i32 kFarOutside = -(1 << 30);

  static CONVOY_DEVICE Columns columns_of(const IgemmPlanesArgs& args, const Tile& tile) {
    const IgemmSizes& sizes = args.sizes;
    const i32 first = tile.m + static_cast<i32>(thread_index() % kColumns * kOwned);
    const i32 channel = tile.group * kConfig.cpg;
    Columns at = {};
    if constexpr (kWhole) {
      const i32 n = args.image.quotient(first);
      at.offset[0] = in_register(n * narrow(sizes.x_stride[0]) + first - n * args.image.divisor() +
                                 channel * narrow(sizes.x_stride[1]));
      at.taps[0] = first < args.gemm_m ? 1 : 0;
    } else {
      CONVOY_UNROLL
      for (int e = 0; e < kOwned; ++e)
        place_column(args, first + e, channel, e, at);
    }
    return at;
  }

  // Column `e` of a thread: the window of output m.
  static CONVOY_DEVICE void place_column(const IgemmPlanesArgs& args, i32 m, i32 channel, int e,
                                         Columns& at) {
    const IgemmSizes& sizes = args.sizes;
    const Coords<i32, 4> row = args.rows(m);
    i32 offset = row[0].value * narrow(sizes.x_stride[0]) + channel * narrow(sizes.x_stride[1]);
    bool inside = row[0].valid;
    i32 origin[3];
    CONVOY_UNROLL
    for (int d = 0; d < 3; ++d) {
      origin[d] = row[d + 1].value * narrow(sizes.stride[d]) - narrow(sizes.pad_lo[d]);
      offset += origin[d] * narrow(sizes.x_stride[d + 2]);
      if (!kHasAxis[d]) inside = inside && is_inside(origin[d], sizes.in[d]);
    }
    at.offset[e] = in_register(offset);
    if constexpr (kMasked) {
      at.taps[e] = in_register(inside ? taps_inside_of(sizes, origin) : 0);
    } else {
      CONVOY_UNROLL
      for (int d = 0; d < 3; ++d)
        at.origin[e][d] = in_register(inside ? origin[d] : kFarOutside);
    }
  }

  // One bit for each tap of the window at `origin` that meets the input.
  static CONVOY_DEVICE u32 taps_inside_of(const IgemmSizes& sizes, const i32 (&origin)[3]) {
    u32 along[3] = {};  // a bit for each position on the axis
    constexpr int kFilter[3] = {kConfig.T, kConfig.R, kConfig.S};
    CONVOY_UNROLL
    for (int d = 0; d < 3; ++d) {
      CONVOY_UNROLL
      for (int i = 0; i < kFilter[d]; ++i) {
        const i32 position = origin[d] + i * narrow(sizes.dilation[d]);
        if (!kHasAxis[d] || is_inside(position, sizes.in[d])) along[d] |= 1U << i;
      }
    }
    u32 taps = 0;
    CONVOY_UNROLL
    for (int t = 0; t < kConfig.T; ++t) {
      CONVOY_UNROLL
      for (int r = 0; r < kConfig.R; ++r) {
        const u32 both = (along[0] >> t & along[1] >> r & 1U) * along[2];
        taps |= both << (t * kConfig.R + r) * kConfig.S;
      }
    }
    return taps;
  }

  static CONVOY_DEVICE Tap tap_of(const IgemmSizes& sizes, u32 k) {
    const u32 channel = k / kTaps, tap = k % kTaps;
    const u32 position[3] = {tap / (kConfig.R * kConfig.S), tap / kConfig.S % kConfig.R,
                             tap % kConfig.S};
    Tap to = {};
    const bool in_k = kGemmK % kBlockK == 0 || k < kGemmK;
    to.delta = in_k ? static_cast<i32>(channel) * narrow(sizes.x_stride[1]) : 0;
    CONVOY_UNROLL
    for (int d = 0; d < 3; ++d) {
      if (!kHasAxis[d]) continue;
      to.along[d] = static_cast<i32>(position[d]) * narrow(sizes.dilation[d]);
      to.delta += to.along[d] * narrow(sizes.x_stride[d + 2]);
    }
    to.bit = in_k ? 1U << tap % 32 : 0;
    return to;
  }
  // The tap that lane `lane` has worked out.
  static CONVOY_DEVICE Tap tap_from(const Tap& mine, u32 lane) {
    Tap to = {};
    to.delta = static_cast<i32>(shuffle(static_cast<u32>(mine.delta), lane));
    if constexpr (!kMasked) {
      CONVOY_UNROLL
      for (int d = 0; d < 3; ++d) {
        if (!kHasAxis[d]) continue;
        to.along[d] = static_cast<i32>(shuffle(static_cast<u32>(mine.along[d]), lane));
      }
    } else if constexpr (kTaps > 1 || kGemmK % kBlockK != 0) {
      to.bit = shuffle(mine.bit, lane);
    } else {
      to.bit = 1;
    }
    return to;
  }
  static CONVOY_DEVICE bool meets(const IgemmSizes& sizes, const Columns& columns, int e,
                                  const Tap& tap, [[maybe_unused]] bool in_k) {
    if constexpr (kMasked) {
      return (columns.taps[e] & tap.bit) != 0;
    } else {
      bool valid = in_k;
      CONVOY_UNROLL
      for (int d = 0; d < 3; ++d) {
        if (!kHasAxis[d]) continue;
        valid = valid && is_inside(columns.origin[e][d] + tap.along[d], sizes.in[d]);
      }
      return valid;
    }
  }

  // Starts the loads of x of gemm_k step `step`.
  static CONVOY_DEVICE void load_x(const IgemmPlanesArgs& args, const Columns& columns, int step,
                                   u8* stage, Held& held) {
    const auto* x = static_cast<const Stored*>(args.x);
    const u32 first = thread_index() / kColumns;
    [[maybe_unused]] Tap mine = {};
    if constexpr (!kWhole) mine = tap_of(args.sizes, step * kBlockK + lane_index());
    CONVOY_UNROLL
    for (int i = 0; i < kRowsX; ++i) {
      const u32 row = first + i * kRowsAtOnce;
      const i32 k = step * kBlockK + static_cast<i32>(row);
      const bool in_k = kGemmK % kBlockK == 0 || k < kGemmK;
      if constexpr (kWhole) {
        const bool valid = in_k && columns.taps[0] != 0;
        const i32 offset = columns.offset[0] + (in_k ? k * narrow(args.sizes.x_stride[1]) : 0);
        const u32 column = thread_index() % kColumns * kOwned;
        copy_async<kConfig.x_bytes>(stage + igemm_planes_swizzle(kConfig, row, column),
                                    x + (valid ? offset : 0), valid);
      } else {
        const Tap tap = tap_from(mine, row);
        if constexpr (kHeldX) {
          u32 value[2];
          CONVOY_UNROLL
          for (int e = 0; e < 2; ++e) {
            value[e] = 0;
            if (meets(args.sizes, columns, e, tap, in_k))
              value[e] = read_only(x + (columns.offset[e] + tap.delta));
          }
          held.x[i] = value[0] | value[1] << 16;
        } else {
          const bool valid = meets(args.sizes, columns, 0, tap, in_k);
          const u32 column = thread_index() % kColumns;
          copy_async<4>(stage + igemm_planes_swizzle(kConfig, row, column),
                        x + (valid ? columns.offset[0] + tap.delta : 0), valid);
        }
      }
    }
  }

  // Starts the loads of w: its rows are runs of gemm_k, one after the other.
  static CONVOY_DEVICE void load_w(const IgemmPlanesArgs& args, const Tile& tile, int step,
                                   u8* stage, Held& held) {
    const auto* w = static_cast<const Stored*>(args.w);
    const u32 byte = thread_index() % kPieces * kPieceBytes, first = thread_index() / kPieces;
    const i32 k = step * kBlockK + static_cast<i32>(byte / kElementBytes);
    const i32 first_line = tile.group * kConfig.kpg + tile.n;
    u8* const to = stage + place_w();
    CONVOY_UNROLL
    for (int i = 0; i < kLinesW; ++i) {
      const i32 line = static_cast<i32>(first) + i * kLinesAtOnce;
      if (kConfig.block_n % kLinesAtOnce != 0 && line >= kConfig.block_n) continue;
      const bool in_n = tile.n + line < kConfig.kpg;
      const bool valid = in_n && (kGemmK % kBlockK == 0 || k < kGemmK);
      const i32 offset = (first_line + line) * kGemmK + k;
      if constexpr (kHeldW) {
        u32 low = 0, high = 0;
        if (valid) low = read_only(w + offset);
        if (in_n && k + 1 < kGemmK) high = read_only(w + offset + 1);
        held.w[i] = low | high << 16;
      } else {
        copy_async<kPieceBytes>(to + i * kLinesAtOnce * kIgemmPlanesRowBytes,
                                w + (valid ? offset : 0), valid);
      }
    }
  }
  // Of a thread's first piece of w, in a stage.
  static CONVOY_DEVICE u32 place_w() {
    const u32 byte = thread_index() % kPieces * kPieceBytes;
    return kConfig.block_m * kIgemmPlanesRowBytes +
           igemm_swizzle(kIgemmPlanesRowBytes, thread_index() / kPieces, byte / 16) + byte % 16;
  }

  // What came through registers, into the stage of its step.
  static CONVOY_DEVICE void store_held(const Held& held, u8* stage) {
    if constexpr (kHeldX) {
      CONVOY_UNROLL
      for (int i = 0; i < kRowsX; ++i) {
        const u32 row = thread_index() / kColumns + i * kRowsAtOnce;
        const u32 column = thread_index() % kColumns * kOwned;
        *reinterpret_cast<u32*>(stage + igemm_planes_swizzle(kConfig, row, column)) = held.x[i];
      }
    }
    if constexpr (kHeldW) {
      CONVOY_UNROLL
      for (int i = 0; i < kLinesW; ++i) {
        const i32 line = static_cast<i32>(thread_index() / kPieces) + i * kLinesAtOnce;
        if (kConfig.block_n % kLinesAtOnce != 0 && line >= kConfig.block_n) continue;
        *reinterpret_cast<u32*>(stage + place_w() + i * kLinesAtOnce * kIgemmPlanesRowBytes) =
            held.w[i];
      }
    }
  }
};

}  // namespace convoy
