// The implicit GEMM: D[m, g*kpg+n] = sum over k of A_g[m, k] * B_g[n, k] on matrix instructions, a
// ring of shared-memory stages filled by asynchronous copies, the group as a coordinate.
//
// Padding and tails are zeros in shared memory, so an Inf or NaN elsewhere in the window makes a
// NaN: a tile that holds one is computed again, tap by tap.
#pragma once

#include "kernel/gpu/device/exact.h"
#include "kernel/gpu/igemm/igemm_config.h"

namespace convoy {

template <IgemmConfig kConfig>
struct Igemm {
  using E = Element<kConfig.elem>;
  using Stored = Storage<kConfig.elem>;
  template <bool kWide>
  struct IndexOf {
    using type = i32;
  };
  template <>
  struct IndexOf<true> {
    using type = i64;
  };
  using Index = typename IndexOf<kConfig.wide>::type;
  using Args = IgemmArgs<Index, kConfig.grouped>;

  static constexpr int kElementBytes = igemm_element_bytes(kConfig);
  static constexpr int kThreads = igemm_threads(kConfig);
  static constexpr int kBlockK = igemm_block_k(kConfig);
  static constexpr int kWarpM = kConfig.block_m / kConfig.warps_m;
  static constexpr int kWarpN = kConfig.block_n / kConfig.warps_n;
  static constexpr int kTilesM = kWarpM / 16;
  static constexpr int kTilesN = kWarpN / 8;
  static constexpr int kGemmK = kConfig.T * kConfig.R * kConfig.S * kConfig.cpg;
  static constexpr int kSteps = (kGemmK + kBlockK - 1) / kBlockK;
  static constexpr int kStageBytes = (kConfig.block_m + kConfig.block_n) * kIgemmRowBytes;
  // A thread copies the same piece of every row it copies.
  static constexpr int kPieces = kIgemmRowBytes / kConfig.load_bytes;  // of a row
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
  // lane's row in the first fragment of A and of B at each of the two matrix steps.
  struct Places {
    u32 copy, a[2], b[2], last_b[2];
  };
  static CONVOY_DEVICE Places places() {
    const u32 lane = lane_index();
    const u32 warp_m = warp_index() % kConfig.warps_m, warp_n = warp_index() / kConfig.warps_m;
    const u32 byte = thread_index() % kPieces * kConfig.load_bytes;
    Places at;
    at.copy = in_register(igemm_swizzle(thread_index() / kPieces, byte / 16) + byte % 16);
    constexpr u32 kStartB = kConfig.block_m * kIgemmRowBytes;
    const u32 row_b = warp_n * kWarpN + lane % 8;
    CONVOY_UNROLL
    for (u32 step = 0; step < 2; ++step) {
      at.a[step] = in_register(igemm_swizzle(warp_m * kWarpM + lane % 16, step * 2 + lane / 16));
      at.b[step] =
          in_register(kStartB + igemm_swizzle(row_b + lane / 16 * 8, step * 2 + lane / 8 % 2));
      at.last_b[step] = in_register(kStartB + igemm_swizzle(row_b, step * 2 + lane / 8 % 2));
    }
    return at;
  }
  // Rows further down by a multiple of 8 keep their swizzle.
  static_assert(kRowsAtOnce % 8 == 0);

  // Starts the copies of gemm_k step `step` into `stage`.
  static CONVOY_DEVICE void load(const Args& args, const Tile& tile, const Row (&rows)[kRowsA],
                                 const Places& at, int step, u8* stage) {
    const u32 piece = thread_index() % kPieces, first = thread_index() / kPieces;
    const u32 byte = piece * kConfig.load_bytes;
    const Index k = step * kBlockK + static_cast<Index>(byte / kElementBytes);
    const bool in_k = kGemmK % kBlockK == 0 || k < kGemmK;
    constexpr i64 kFilter[3] = {kConfig.T, kConfig.R, kConfig.S};
    constexpr auto kTaps = unmerge4<Index>(kFilter, kConfig.cpg);
    const Coords<Index, 4> tap = kTaps(freeze(k));
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
      copy_async<kConfig.load_bytes>(stage + at.copy + i * kRowsAtOnce * kIgemmRowBytes,
                                     x + (valid ? rows[i].offset + delta : 0), valid);
    }
    // Rows of w are runs of gemm_k, one after the other.
    const auto* w = static_cast<const Stored*>(args.w);
    const Index first_row = tile.group * kConfig.kpg + tile.n;
    u8* const stage_b = stage + kConfig.block_m * kIgemmRowBytes;
    CONVOY_UNROLL
    for (int i = 0; i < kRowsB; ++i) {
      const u32 row = first + i * kRowsAtOnce;
      if (kConfig.block_n % kRowsAtOnce != 0 && row >= kConfig.block_n) continue;
      const bool valid = in_k && tile.n + static_cast<Index>(row) < kConfig.kpg;
      const Index offset = (first_row + static_cast<Index>(row)) * kGemmK + k;
      copy_async<kConfig.load_bytes>(stage_b + at.copy + i * kRowsAtOnce * kIgemmRowBytes,
                                     w + (valid ? offset : 0), valid);
    }
  }

  template <int kWords>
  static CONVOY_DEVICE void round_to_tf32(u32 (&words)[kWords]) {
    if constexpr (kConfig.elem == Elem::kTf32) {
      CONVOY_UNROLL
      for (int i = 0; i < kWords; ++i)
        words[i] = f32_to_tf32(f32_from_bits(words[i]));
    }
  }

  struct Fragments {
    u32 a[kTilesM][4], b[kTilesN][2];
  };
  static CONVOY_DEVICE void read(const u8* stage, const Places& at, int step, Fragments& to) {
    CONVOY_UNROLL
    for (int i = 0; i < kTilesM; ++i) {
      load_matrix<4>(to.a[i], stage + at.a[step] + i * 16 * kIgemmRowBytes);
      round_to_tf32(to.a[i]);
    }
    CONVOY_UNROLL
    for (int j = 0; j + 1 < kTilesN; j += 2) {
      u32 pair[4];
      load_matrix<4>(pair, stage + at.b[step] + j * 8 * kIgemmRowBytes);
      round_to_tf32(pair);
      to.b[j][0] = pair[0];
      to.b[j][1] = pair[1];
      to.b[j + 1][0] = pair[2];
      to.b[j + 1][1] = pair[3];
    }
    if constexpr (kTilesN % 2 != 0) {
      constexpr int kLast = kTilesN - 1;
      load_matrix<2>(to.b[kLast], stage + at.last_b[step] + kLast * 8 * kIgemmRowBytes);
      round_to_tf32(to.b[kLast]);
    }
  }

  static CONVOY_DEVICE void multiply(const Fragments& from, Sums& sums) {
    CONVOY_UNROLL
    for (int i = 0; i < kTilesM; ++i) {
      CONVOY_UNROLL
      for (int j = 0; j < kTilesN; ++j)
        multiply_add<E, E::kMmaDepth>(sums[i][j], from.a[i], from.b[j]);
    }
  }

  // The products of one stage: 32 bytes of gemm_k are one matrix step in every dtype. The second
  // step's fragments are on their way while the first is multiplied.
  static CONVOY_DEVICE void multiply_stage(const u8* stage, const Places& at, Sums& sums) {
    static_assert(kIgemmRowBytes == 64);
    Fragments first, second;
    read(stage, at, 0, first);
    read(stage, at, 1, second);
    multiply(first, sums);
    multiply(second, sums);
  }

  // Sums and bias into the shared tile; whether a sum is NaN.
  static CONVOY_DEVICE bool stage_output(const Args& args, const Tile& tile, const Sums& sums,
                                         u8* shared) {
    const u32 g = lane_index() / 4, t = lane_index() % 4;
    const u32 warp_m = warp_index() % kConfig.warps_m, warp_n = warp_index() / kConfig.warps_m;
    bool poisoned = false;
    CONVOY_UNROLL
    for (int j = 0; j < kTilesN; ++j) {
      const u32 column = warp_n * kWarpN + j * 8 + 2 * t;
      float bias[2] = {};
      CONVOY_UNROLL
      for (u32 c = 0; c < 2; ++c) {
        const Index n = tile.n + static_cast<Index>(column + c);
        if (n < kConfig.kpg) {
          bias[c] = bias_of<kConfig.elem, kConfig.epilogue.bias>(
              args, static_cast<i64>(tile.group) * kConfig.kpg + n);
        }
      }
      CONVOY_UNROLL
      for (int i = 0; i < kTilesM; ++i) {
        CONVOY_UNROLL
        for (u32 half = 0; half < 2; ++half) {
          const u32 row = warp_m * kWarpM + i * 16 + half * 8 + g;
          const float(&s)[4] = sums[i][j];
          poisoned = poisoned || is_nan(s[2 * half] + s[2 * half + 1]);
          u8* const at = shared + row * igemm_output_pitch(kConfig) + column * 4;
          *reinterpret_cast<Bytes8*>(at) = {
              {f32_bits(s[2 * half] + bias[0]), f32_bits(s[2 * half + 1] + bias[1])}};
        }
      }
    }
    return poisoned;
  }

  // One store's outputs: activated and rounded.
  template <int kCount>
  static CONVOY_DEVICE void finish(const float* from, Stored* y) {
    u32 words[kCount * kElementBytes / 4 + (kCount * kElementBytes < 4)];
    if constexpr (kElementBytes == 2 && kCount > 1) {
      CONVOY_UNROLL
      for (int i = 0; i < kCount / 2; ++i) {
        words[i] = E::round2(activate<kConfig.epilogue.act>(from[2 * i]),
                             activate<kConfig.epilogue.act>(from[2 * i + 1]));
      }
    } else {
      CONVOY_UNROLL
      for (int i = 0; i < kCount; ++i) {
        const auto value = E::round(activate<kConfig.epilogue.act>(from[i]));
        if constexpr (kElementBytes == 2) {
          *y = value;
          return;
        } else {
          words[i] = f32_bits(value);
        }
      }
    }
    if constexpr (kConfig.store_bytes == 16) {
      *reinterpret_cast<Bytes16*>(y) = {{words[0], words[1], words[2], words[3]}};
    } else if constexpr (kConfig.store_bytes == 8) {
      *reinterpret_cast<Bytes8*>(y) = {{words[0], words[1]}};
    } else {
      *reinterpret_cast<u32*>(y) = words[0];
    }
  }

  // The shared tile to y, `store_bytes` a thread, neighbouring threads along n.
  static CONVOY_DEVICE void store(const Args& args, const Tile& tile, const u8* shared) {
    constexpr int kPerStore = kConfig.store_bytes / kElementBytes;
    constexpr int kColumns = kConfig.block_n / kPerStore;
    auto* y = static_cast<Stored*>(args.y);
    CONVOY_NO_UNROLL
    for (u32 i = thread_index(); i < kConfig.block_m * kColumns; i += kThreads) {
      const u32 row = i / kColumns, column = i % kColumns * kPerStore;
      const Index n = tile.n + static_cast<Index>(column);
      const Coord<Index> at = args.d(tile.group, tile.m + static_cast<Index>(row), n);
      if (!at.valid || n >= kConfig.kpg) continue;
      float sums[kPerStore];
      const u8* const from = shared + row * igemm_output_pitch(kConfig) + column * 4;
      CONVOY_UNROLL
      for (int c = 0; c < kPerStore; ++c)
        sums[c] = reinterpret_cast<const float*>(from)[c];
      finish<kPerStore>(sums, y + at.value);
    }
  }

  // Every output of the tile again, exactly.
  static CONVOY_DEVICE void repair(const Args& args, const Tile& tile) {
    CONVOY_NO_UNROLL
    for (u32 i = thread_index(); i < kConfig.block_m * kConfig.block_n; i += kThreads) {
      const Index m = tile.m + static_cast<Index>(i / kConfig.block_n);
      const Index n = tile.n + static_cast<Index>(i % kConfig.block_n);
      if (m >= args.gemm_m || n >= kConfig.kpg) continue;
      const Coords<Index, 4> row = args.a.rows(m);
      store_exact<kConfig.elem, kConfig.epilogue.bias, kConfig.epilogue.act>(
          args, {row[0].value, static_cast<i64>(tile.group) * kConfig.kpg + n, row[1].value,
                 row[2].value, row[3].value});
    }
  }

  static CONVOY_DEVICE void run(const Args& args) {
    const Tile tile = tile_of(args);
    u8* const shared = shared_memory<u8>();
    const Places at = places();
    Row rows[kRowsA];
    CONVOY_UNROLL
    for (int i = 0; i < kRowsA; ++i) {
      const Index row = static_cast<Index>(thread_index() / kPieces) + i * kRowsAtOnce;
      rows[i] = row_of(args, tile, tile.m + row);
    }
    CONVOY_NO_UNROLL
    for (int s = 0; s < kConfig.stages - 1; ++s) {
      if (s < kSteps) load(args, tile, rows, at, s, shared + s * kStageBytes);
      commit_copies();
    }
    Sums sums = {};
    int filled = kConfig.stages - 1, used = 0;
    CONVOY_NO_UNROLL
    for (int step = 0; step < kSteps; ++step) {
      wait_copies<kConfig.stages - 2>();
      sync_block();
      const int next = step + kConfig.stages - 1;
      if (next < kSteps) load(args, tile, rows, at, next, shared + filled * kStageBytes);
      commit_copies();
      multiply_stage(shared + used * kStageBytes, at, sums);
      filled = filled + 1 == kConfig.stages ? 0 : filled + 1;
      used = used + 1 == kConfig.stages ? 0 : used + 1;
    }
    wait_copies<0>();
    sync_block();
    const bool poisoned = stage_output(args, tile, sums, shared);
    const bool any = any_in_block(poisoned);
    store(args, tile, shared);
    if (!any) return;
    sync_block();  // other threads have stored what this one repairs
    repair(args, tile);
  }
};

template <IgemmConfig kConfig>
CONVOY_DEVICE void igemm(const typename Igemm<kConfig>::Args& args) {
  Igemm<kConfig>::run(args);
}

}  // namespace convoy
