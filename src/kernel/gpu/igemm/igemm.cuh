// The implicit GEMM: D[m, g*kpg+n] = sum over k of A_g[m, k] * B_g[n, k] on matrix instructions, a
// ring of shared-memory stages filled by asynchronous copies, the group as a coordinate.
//
// Padding and tails are zeros in shared memory, so an Inf or NaN elsewhere in the window makes a
// NaN: a tile that holds one is computed again, tap by tap.
#pragma once

#include "kernel/gpu/igemm/igemm_math.cuh"

namespace convoy {

template <IgemmConfig kConfig>
struct Igemm : IgemmMath<kConfig.elem == Elem::kF32>::template Of<kConfig> {
  using Math = typename IgemmMath<kConfig.elem == Elem::kF32>::template Of<kConfig>;
  using Math::kElementBytes, Math::kPieces, Math::kRowsA, Math::kRowsAtOnce, Math::kStageBytes,
      Math::kSteps, Math::kThreads, Math::kTilesM, Math::kTilesN, Math::kWarpM, Math::kWarpN;
  using Math::load, Math::multiply_stage, Math::places, Math::row_of, Math::tile_of;
  using typename Math::Args, typename Math::E, typename Math::Index, typename Math::Places,
      typename Math::Row, typename Math::Stored, typename Math::Sums, typename Math::Tile;

  // Sums and bias into the shared tile; whether a sum is NaN.
  static CONVOY_DEVICE bool stage_output(const Args& args, const Tile& tile, const Sums& sums,
                                         u8* shared) {
    const u32 warp_m = warp_index() % kConfig.warps_m, warp_n = warp_index() / kConfig.warps_m;
    bool poisoned = false;
    CONVOY_UNROLL
    for (int j = 0; j < kTilesN; ++j) {
      float bias[2];
      CONVOY_UNROLL
      for (int e = 0; e < 2; ++e) {
        const Index n = tile.n + static_cast<Index>(warp_n * kWarpN + Math::column_of_sum(j, e));
        bias[e] = n < kConfig.kpg ? bias_of<kConfig.elem, kConfig.epilogue.bias>(
                                        args, static_cast<i64>(tile.group) * kConfig.kpg + n)
                                  : 0.0F;
      }
      CONVOY_UNROLL
      for (int i = 0; i < kTilesM; ++i) {
        const float(&s)[4] = sums[i][j];
        poisoned = poisoned || is_nan(s[0] + s[1]) || is_nan(s[2] + s[3]);
        CONVOY_UNROLL
        for (int e = 0; e < 4; ++e) {
          const u32 row = warp_m * kWarpM + Math::row_of_sum(i, e);
          const u32 column = warp_n * kWarpN + Math::column_of_sum(j, e);
          auto* const line = reinterpret_cast<float*>(shared + row * igemm_output_pitch(kConfig));
          line[column] = s[e] + bias[e % 2];
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
      write_whole(reinterpret_cast<Bytes16*>(y), Bytes16{{words[0], words[1], words[2], words[3]}});
    } else if constexpr (kConfig.store_bytes == 8) {
      write_whole(reinterpret_cast<Bytes8*>(y), Bytes8{{words[0], words[1]}});
    } else {
      write_whole(reinterpret_cast<u32*>(y), words[0]);
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
