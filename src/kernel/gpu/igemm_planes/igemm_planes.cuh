// The implicit GEMM over channel planes (channels first): D[m, g*kpg+n] = sum over k of
// A_g[m, k] * B_g[n, k] on matrix instructions, neighbouring lanes along the planes.
//
// Padding and tails are zeros in shared memory, so an Inf or NaN elsewhere in the window makes a
// NaN: a tile that holds one is computed again, tap by tap.
#pragma once

#include "kernel/gpu/igemm_planes/igemm_planes_load.cuh"

namespace convoy {

template <IgemmPlanesConfig kConfig>
struct IgemmPlanes : IgemmPlanesLoad<kConfig> {
  using Args = IgemmPlanesArgs;
  using Load = IgemmPlanesLoad<kConfig>;
  using Load::columns_of, Load::load_w, Load::load_x, Load::store_held, Load::tile_of;
  using Load::kElementBytes, Load::kPitch, Load::kStageBytes, Load::kSteps, Load::kThreads,
      Load::kTilesM, Load::kTilesN, Load::kWarpM, Load::kWarpN;
  using typename Load::Columns, typename Load::E, typename Load::Held, typename Load::Stored,
      typename Load::Sums, typename Load::Tile;

  template <int kWords>
  static CONVOY_DEVICE void round_to_tf32(u32 (&words)[kWords]) {
    if constexpr (kConfig.elem == Elem::kTf32) {
      CONVOY_UNROLL
      for (int i = 0; i < kWords; ++i)
        words[i] = f32_to_tf32(f32_from_bits(words[i]));
    }
  }

  // Byte offsets within a stage, the same for every stage: of a lane's part of the first fragment
  // of x, and of w at each of the two matrix steps.
  struct Places {
    u32 x, w[2], last_w[2];
  };
  static CONVOY_DEVICE Places places() {
    const u32 lane = lane_index();
    const u32 warp_m = warp_index() % kConfig.warps_m, warp_n = warp_index() / kConfig.warps_m;
    constexpr u32 kStartW = kConfig.block_m * kIgemmPlanesRowBytes;
    Places at;
    if constexpr (kElementBytes == 2) {
      at.x = igemm_planes_swizzle(kConfig, lane / 16 * 8 + lane % 8,
                                  warp_m * kWarpM + lane / 8 % 2 * 8);
    } else {
      at.x = igemm_planes_swizzle(kConfig, lane % 4, warp_m * kWarpM + lane / 4);
    }
    at.x = in_register(at.x);
    const u32 row = warp_n * kWarpN + lane % 8;
    CONVOY_UNROLL
    for (u32 step = 0; step < 2; ++step) {
      const u32 chunk = step * 2 + lane / 8 % 2;
      at.w[step] =
          in_register(kStartW + igemm_swizzle(kIgemmPlanesRowBytes, row + lane / 16 * 8, chunk));
      at.last_w[step] = in_register(kStartW + igemm_swizzle(kIgemmPlanesRowBytes, row, chunk));
    }
    return at;
  }

  // Columns of a warp's tile start at a multiple of its width, so that the swizzle, an exclusive
  // or, takes the bits of a fragment within it as they are.
  static CONVOY_DEVICE void read_x(const u8* stage, const Places& at, int step,
                                   u32 (&to)[kTilesM][4]) {
    CONVOY_UNROLL
    for (u32 i = 0; i < kTilesM; ++i) {
      if constexpr (kElementBytes == 2) {
        load_matrix_transposed<4>(to[i], stage + step * 16 * kPitch + (at.x ^ i * 32));
      } else {
        CONVOY_UNROLL
        for (u32 e = 0; e < 4; ++e) {
          const u8* const from = stage + (step * 8 + e / 2 * 4) * kPitch;
          to[i][e] = *reinterpret_cast<const u32*>(from + (at.x ^ (i * 64 + e % 2 * 32)));
        }
        round_to_tf32(to[i]);
      }
    }
  }

  static CONVOY_DEVICE void read_w(const u8* stage, const Places& at, int step,
                                   u32 (&to)[kTilesN][2]) {
    CONVOY_UNROLL
    for (int j = 0; j + 1 < kTilesN; j += 2) {
      u32 pair[4];
      load_matrix<4>(pair, stage + at.w[step] + j * 8 * kIgemmPlanesRowBytes);
      round_to_tf32(pair);
      to[j][0] = pair[0];
      to[j][1] = pair[1];
      to[j + 1][0] = pair[2];
      to[j + 1][1] = pair[3];
    }
    if constexpr (kTilesN % 2 != 0) {
      constexpr int kLast = kTilesN - 1;
      load_matrix<2>(to[kLast], stage + at.last_w[step] + kLast * 8 * kIgemmPlanesRowBytes);
      round_to_tf32(to[kLast]);
    }
  }

  // The products of one stage; 32 bytes of gemm_k are one matrix step in every dtype.
  static CONVOY_DEVICE void multiply_stage(const u8* stage, const Places& at, Sums& sums) {
    static_assert(kIgemmPlanesRowBytes == 64);
    CONVOY_UNROLL
    for (int step = 0; step < 2; ++step) {
      u32 x[kTilesM][4], w[kTilesN][2];
      read_x(stage, at, step, x);
      read_w(stage, at, step, w);
      CONVOY_UNROLL
      for (int i = 0; i < kTilesM; ++i) {
        CONVOY_UNROLL
        for (int j = 0; j < kTilesN; ++j)
          multiply_add<E, E::kMmaDepth>(sums[i][j], x[i], w[j]);
      }
    }
  }

  // Sums into the shared tile, rows of gemm_m; whether one is NaN.
  static CONVOY_DEVICE bool stage_output(const Sums& sums, u8* shared) {
    const u32 warp_m = warp_index() % kConfig.warps_m, warp_n = warp_index() / kConfig.warps_m;
    const u32 row = warp_n * kWarpN + lane_index() % 4 * 2;
    const u32 column = warp_m * kWarpM + lane_index() / 4;
    u8* const first = shared + row * igemm_planes_output_pitch(kConfig) + column * 4;
    bool poisoned = false;
    CONVOY_UNROLL
    for (int i = 0; i < kTilesM; ++i) {
      CONVOY_UNROLL
      for (int j = 0; j < kTilesN; ++j) {
        const float(&s)[4] = sums[i][j];
        poisoned = poisoned || is_nan(s[0] + s[1]) || is_nan(s[2] + s[3]);
        CONVOY_UNROLL
        for (int e = 0; e < 4; ++e) {
          u8* const line = first + (j * 8 + e % 2) * igemm_planes_output_pitch(kConfig);
          *reinterpret_cast<float*>(line + (i * 16 + e / 2 * 8) * 4) = s[e];
        }
      }
    }
    return poisoned;
  }

  // The shared tile to y, `y_bytes` a thread, neighbouring threads along gemm_m.
  static constexpr int kPerStore = kConfig.y_bytes / kElementBytes;
  static CONVOY_DEVICE void store(const Args& args, const Tile& tile, const u8* shared) {
    constexpr int kColumns = kConfig.block_m / kPerStore;
    static_assert(kThreads % kColumns == 0);
    const u32 column = thread_index() % kColumns * kPerStore;
    const i32 m = tile.m + static_cast<i32>(column);
    if (m >= args.gemm_m) return;
    const i32 image = args.image.quotient(m), plane = args.image.divisor();
    const i32 first_channel = tile.group * kConfig.kpg + tile.n;
    auto* const y = static_cast<Stored*>(args.y) +
                    image * static_cast<i32>(args.sizes.y_stride[0]) + (m - image * plane);
    CONVOY_NO_UNROLL
    for (u32 row = thread_index() / kColumns; row < kConfig.block_n; row += kThreads / kColumns) {
      if (tile.n + static_cast<i32>(row) >= kConfig.kpg) break;
      const i32 channel = first_channel + static_cast<i32>(row);
      const float bias = bias_of<kConfig.elem, kConfig.epilogue.bias>(args, channel);
      const u8* const from = shared + row * igemm_planes_output_pitch(kConfig) + column * 4;
      float sums[kPerStore];
      CONVOY_UNROLL
      for (int i = 0; i < kPerStore; ++i) {
        sums[i] = activate<kConfig.epilogue.act>(reinterpret_cast<const float*>(from)[i] + bias);
      }
      put(sums, y + channel * plane);
    }
  }
  static CONVOY_DEVICE void put(const float (&values)[kPerStore], Stored* y) {
    if constexpr (kPerStore == 1) {
      *y = E::round(values[0]);
    } else {
      constexpr int kWords = kConfig.y_bytes / 4;
      u32 words[kWords];
      CONVOY_UNROLL
      for (int i = 0; i < kWords; ++i) {
        if constexpr (kElementBytes == 2) {
          words[i] = E::round2(values[2 * i], values[2 * i + 1]);
        } else {
          words[i] = f32_bits(E::round(values[i]));
        }
      }
      if constexpr (kWords == 4) {
        write_whole(reinterpret_cast<Bytes16*>(y),
                    Bytes16{{words[0], words[1], words[2], words[3]}});
      } else if constexpr (kWords == 2) {
        write_whole(reinterpret_cast<Bytes8*>(y), Bytes8{{words[0], words[1]}});
      } else {
        write_whole(reinterpret_cast<u32*>(y), words[0]);
      }
    }
  }

  // Every output of the tile again, exactly.
  static CONVOY_DEVICE void repair(const Args& args, const Tile& tile) {
    CONVOY_NO_UNROLL
    for (u32 i = thread_index(); i < kConfig.block_m * kConfig.block_n; i += kThreads) {
      const i32 m = tile.m + static_cast<i32>(i % kConfig.block_m);
      const i32 n = tile.n + static_cast<i32>(i / kConfig.block_m);
      if (m >= args.gemm_m || n >= kConfig.kpg) continue;
      const Coords<i32, 4> row = args.rows(m);
      store_exact<kConfig.elem, kConfig.epilogue.bias, kConfig.epilogue.act, i32>(
          args,
          {row[0].value, tile.group * kConfig.kpg + n, row[1].value, row[2].value, row[3].value});
    }
  }

  static CONVOY_DEVICE void run(const Args& args) {
    const Tile tile = tile_of(args);
    u8* const shared = shared_memory<u8>();
    const Places at = places();
    const Columns columns = columns_of(args, tile);
    Held held;
    Sums sums = {};
    int filled = 0, used = 0;
    // The first rounds only load.
    CONVOY_NO_UNROLL
    for (int step = 1 - kConfig.stages; step < kSteps; ++step) {
      if (step >= 0) {
        wait_copies<kConfig.stages - 2>();
        sync_block();
      }
      const int next = step + kConfig.stages - 1;
      u8* const stage = shared + filled * kStageBytes;
      if (next < kSteps) {
        load_w(args, tile, next, stage, held);
        load_x(args, columns, next, stage, held);
      }
      commit_copies();
      if (step >= 0) {
        multiply_stage(shared + used * kStageBytes, at, sums);
        used = used + 1 == kConfig.stages ? 0 : used + 1;
      }
      if (next < kSteps) store_held(held, stage);
      filled = filled + 1 == kConfig.stages ? 0 : filled + 1;
    }
    wait_copies<0>();
    sync_block();
    const bool any = any_in_block(stage_output(sums, shared));
    store(args, tile, shared);
    if (!any) return;
    sync_block();  // other threads have stored what this one repairs
    repair(args, tile);
  }
};

template <IgemmPlanesConfig kConfig>
CONVOY_DEVICE void igemm_planes(const IgemmPlanesArgs& args) {
  IgemmPlanes<kConfig>::run(args);
}

}  // namespace convoy
