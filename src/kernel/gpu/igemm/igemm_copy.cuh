// The implicit GEMM's loads: what a configuration fixes, and the asynchronous copies of one step.
#pragma once

#include "kernel/gpu/device/exact.h"
#include "kernel/gpu/igemm/igemm_config.h"

namespace convoy {

template <bool kWide>
struct IgemmIndex {
  using type = i32;
};
template <>
struct IgemmIndex<true> {
  using type = i64;
};

template <IgemmConfig kConfig>
struct IgemmFacts {
  using E = Element<kConfig.elem>;
  using Stored = Storage<kConfig.elem>;
  using Index = typename IgemmIndex<kConfig.wide>::type;
  using Args = IgemmArgs<Index, kConfig.grouped>;

  static constexpr int kElementBytes = igemm_element_bytes(kConfig);
  static constexpr int kRowBytes = kConfig.row_bytes;
  static constexpr int kThreads = igemm_threads(kConfig);
  static constexpr int kBlockK = igemm_block_k(kConfig);
  static constexpr int kWarpM = kConfig.block_m / kConfig.warps_m;
  static constexpr int kWarpN = kConfig.block_n / kConfig.warps_n;
  static constexpr int kTilesM = kWarpM / 16;
  static constexpr int kTilesN = kWarpN / 8;
  static constexpr int kMatrixSteps = kRowBytes / 32;  // of a stage
  static constexpr int kGemmK = kConfig.T * kConfig.R * kConfig.S * kConfig.cpg;
  static constexpr int kSteps = (kGemmK + kBlockK - 1) / kBlockK;
  static constexpr int kStageBytes = (kConfig.block_m + kConfig.block_n) * kRowBytes;
  // A thread copies the same piece of every row it copies.
  static constexpr int kPieces = kRowBytes / kConfig.load_bytes;  // of a row
  static constexpr int kRowsAtOnce = kThreads / kPieces;
  static constexpr int kRowsA = (kConfig.block_m + kRowsAtOnce - 1) / kRowsAtOnce;
  static constexpr int kRowsB = (kConfig.block_n + kRowsAtOnce - 1) / kRowsAtOnce;
  static_assert(kWarpM % 16 == 0 && kWarpN % 8 == 0);
  static_assert(kThreads % kPieces == 0);
  static_assert(kConfig.cpg * kElementBytes % kConfig.load_bytes == 0);

  struct Tile {
    Index group, m, n;  // first of the tile
  };
  using Sums = float[kTilesM][kTilesN][4];
};

template <IgemmConfig kConfig>
struct IgemmCopy : IgemmFacts<kConfig> {
  using Facts = IgemmFacts<kConfig>;
  using Facts::kBlockK, Facts::kMatrixSteps, Facts::kRowBytes, Facts::kElementBytes, Facts::kGemmK,
      Facts::kPieces, Facts::kRowsA, Facts::kRowsAtOnce, Facts::kRowsB, Facts::kWarpM,
      Facts::kWarpN;
  using typename Facts::Args, typename Facts::Index, typename Facts::Stored, typename Facts::Tile;

  static CONVOY_DEVICE Tile tile_of(const Args& args) {
    const Index block = static_cast<Index>(block_index());
    const Index rest = args.n_tiles.quotient(block);
    const Index m = kConfig.grouped ? args.groups.quotient(rest) : rest;
    return {kConfig.grouped ? rest - m * args.groups.divisor() : 0, m * kConfig.block_m,
            (block - rest * args.n_tiles.divisor()) * kConfig.block_n};
  }

  // What a thread knows of one row of A before it meets a tap: where its window begins.
  struct Row {
    Index offset;     // of the window's first tap, which may lie on padding
    Index origin[3];  // its d, h, w; far outside where the row is past gemm_m
  };
  static constexpr bool kHasAxis[3] = {kConfig.T > 1, kConfig.R > 1, kConfig.S > 1};

  // An axis of one tap is checked here once, the others at each tap.
  static CONVOY_DEVICE Row row_of(const Args& args, const Tile& tile, Index m) {
    const Coords<Index, 4> at = args.a.rows(m);
    const Index(&stride)[5] = args.a.x.stride;
    Row row;
    row.offset = at[0].value * stride[0] + tile.group * kConfig.cpg;
    bool inside = at[0].valid;
    CONVOY_UNROLL
    for (int d = 0; d < 3; ++d) {
      const Embed<Index, 2>& window = args.a.window[d];
      row.origin[d] = window.offset + window.stride[0] * at[d + 1].value;
      row.offset += row.origin[d] * stride[d + 2];
      if (!kHasAxis[d]) inside = inside && is_inside(row.origin[d], window.hi);
    }
    row.offset = in_register(row.offset);
    CONVOY_UNROLL
    for (int d = 0; d < 3; ++d) {
      if (kHasAxis[d] || d == 2) row.origin[d] = in_register(inside ? row.origin[d] : kFarOutside);
    }
    return row;
  }
  static constexpr Index kFarOutside = -(Index{1} << 30);

  static CONVOY_DEVICE bool is_inside(Index position, Index extent) {
    using Unsigned = typename UnsignedOf<Index>::type;
    return static_cast<Unsigned>(position) < static_cast<Unsigned>(extent);
  }

  // Byte offsets within a stage, the same for every stage: of a thread's first copy, and of a
  // lane's row in the first fragment of A and of B at each matrix step.
  struct Places {
    u32 copy, a[kMatrixSteps], b[kMatrixSteps], last_b[kMatrixSteps];
  };
  static CONVOY_DEVICE Places places() {
    const u32 lane = lane_index();
    const u32 warp_m = warp_index() % kConfig.warps_m, warp_n = warp_index() / kConfig.warps_m;
    const u32 byte = thread_index() % kPieces * kConfig.load_bytes;
    Places at;
    at.copy =
        in_register(igemm_swizzle(kRowBytes, thread_index() / kPieces, byte / 16) + byte % 16);
    constexpr u32 kStartB = kConfig.block_m * kRowBytes;
    const u32 row_b = warp_n * kWarpN + lane % 8;
    CONVOY_UNROLL
    for (u32 step = 0; step < kMatrixSteps; ++step) {
      at.a[step] =
          in_register(igemm_swizzle(kRowBytes, warp_m * kWarpM + lane % 16, step * 2 + lane / 16));
      at.b[step] = in_register(
          kStartB + igemm_swizzle(kRowBytes, row_b + lane / 16 * 8, step * 2 + lane / 8 % 2));
      at.last_b[step] =
          in_register(kStartB + igemm_swizzle(kRowBytes, row_b, step * 2 + lane / 8 % 2));
    }
    return at;
  }
  // Rows further down by a multiple of 8 keep their swizzle.
  static_assert(kRowsAtOnce % 8 == 0);

  // Starts the copies of gemm_k step `step` into `stage`. Walking the taps first, with copies
  // through L1, lost: 82.0 for 81.2 us (dense 256x28), 33.4 for 29.2 us (dense 64x56; n32, f16,
  // H200).
  static CONVOY_DEVICE void load(const Args& args, const Tile& tile, const Row (&rows)[kRowsA],
                                 const Places& at, int step, u8* stage) {
    const u32 piece = thread_index() % kPieces, first = thread_index() / kPieces;
    const u32 byte = piece * kConfig.load_bytes;
    const Index k = step * kBlockK + static_cast<Index>(byte / kElementBytes);
    const bool in_k = kGemmK % kBlockK == 0 || k < kGemmK;
    constexpr i64 kFilter[3] = {kConfig.T, kConfig.R, kConfig.S};
    constexpr auto kUnmerge = unmerge4<Index>(kFilter, kConfig.cpg);
    const Coords<Index, 4> tap = kUnmerge(freeze(k));
    Index along[3], delta = tap[3].value;
    CONVOY_UNROLL
    for (int d = 0; d < 3; ++d) {
      along[d] = tap[d].value * args.a.window[d].stride[1];
      delta += along[d] * args.a.x.stride[d + 2];
    }
    const auto* x = static_cast<const Stored*>(args.x);
    CONVOY_UNROLL
    for (int i = 0; i < kRowsA; ++i) {
      const u32 row = first + i * kRowsAtOnce;
      if (kConfig.block_m % kRowsAtOnce != 0 && row >= kConfig.block_m) continue;
      bool valid = in_k && (kHasAxis[0] || kHasAxis[1] || kHasAxis[2] || rows[i].origin[2] >= 0);
      CONVOY_UNROLL
      for (int d = 0; d < 3; ++d) {
        if (!kHasAxis[d]) continue;
        valid = valid && is_inside(rows[i].origin[d] + along[d], args.a.window[d].hi);
      }
      u8* const to = stage + at.copy + i * kRowsAtOnce * kRowBytes;
      const Stored* const from = x + (valid ? rows[i].offset + delta : 0);
      copy_async<kConfig.load_bytes>(to, from, valid);
    }
    // Rows of w are runs of gemm_k, one after the other.
    const auto* w = static_cast<const Stored*>(args.w);
    const Index first_row = tile.group * kConfig.kpg + tile.n;
    u8* const stage_b = stage + kConfig.block_m * kRowBytes;
    CONVOY_UNROLL
    for (int i = 0; i < kRowsB; ++i) {
      const u32 row = first + i * kRowsAtOnce;
      if (kConfig.block_n % kRowsAtOnce != 0 && row >= kConfig.block_n) continue;
      const bool valid = in_k && tile.n + static_cast<Index>(row) < kConfig.kpg;
      const Index offset = (first_row + static_cast<Index>(row)) * kGemmK + k;
      copy_async<kConfig.load_bytes>(stage_b + at.copy + i * kRowsAtOnce * kRowBytes,
                                     w + (valid ? offset : 0), valid);
    }
  }
};

}  // namespace convoy
