// The implicit GEMM's products of one stage: matrix instructions, or FFMA for true f32.
#pragma once

#include "kernel/gpu/igemm/igemm_copy.cuh"

namespace convoy {

template <IgemmConfig kConfig>
struct IgemmMatrix : IgemmCopy<kConfig> {
  using Copy = IgemmCopy<kConfig>;
  using Copy::kMatrixSteps, Copy::kRowBytes, Copy::kTilesM, Copy::kTilesN, Copy::kWarpM,
      Copy::kWarpN;
  using typename Copy::E, typename Copy::Places, typename Copy::Sums;

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
      load_matrix<4>(to.a[i], stage + at.a[step] + i * 16 * kRowBytes);
      round_to_tf32(to.a[i]);
    }
    CONVOY_UNROLL
    for (int j = 0; j + 1 < kTilesN; j += 2) {
      u32 pair[4];
      load_matrix<4>(pair, stage + at.b[step] + j * 8 * kRowBytes);
      round_to_tf32(pair);
      to.b[j][0] = pair[0];
      to.b[j][1] = pair[1];
      to.b[j + 1][0] = pair[2];
      to.b[j + 1][1] = pair[3];
    }
    if constexpr (kTilesN % 2 != 0) {
      constexpr int kLast = kTilesN - 1;
      load_matrix<2>(to.b[kLast], stage + at.last_b[step] + kLast * 8 * kRowBytes);
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

  // The products of one stage: 32 bytes of gemm_k are one matrix step in every dtype. A step's
  // fragments are on their way while the step before is multiplied.
  static CONVOY_DEVICE void multiply_stage(const u8* stage, const Places& at, Sums& sums) {
    Fragments fragments[2];
    read(stage, at, 0, fragments[0]);
    CONVOY_UNROLL
    for (int step = 0; step < kMatrixSteps; ++step) {
      if (step + 1 < kMatrixSteps) read(stage, at, step + 1, fragments[(step + 1) % 2]);
      multiply(fragments[step % 2], sums);
    }
  }

  // Where sum (i, j, e) of a lane lies in its warp's tile.
  static CONVOY_DEVICE u32 row_of_sum(int i, int e) {
    return i * 16 + e / 2 * 8 + lane_index() / 4;
  }
  static CONVOY_DEVICE u32 column_of_sum(int j, int e) {
    return j * 8 + lane_index() % 4 * 2 + e % 2;
  }
};

// Lanes stand 4 along m and 8 along n; a thread's rows are 4 apart, its columns 8.
template <IgemmConfig kConfig>
struct IgemmPlain : IgemmCopy<kConfig> {
  using Copy = IgemmCopy<kConfig>;
  using Copy::kRowBytes, Copy::kTilesM, Copy::kTilesN, Copy::kWarpM, Copy::kWarpN;
  using typename Copy::Places, typename Copy::Sums;

  static CONVOY_DEVICE void four(const u8* at, float (&to)[4]) {
    const Bytes16 bytes = read_whole(reinterpret_cast<const Bytes16*>(at));
    CONVOY_UNROLL
    for (int i = 0; i < 4; ++i)
      to[i] = f32_from_bits(bytes.word[i]);
  }

  static CONVOY_DEVICE void multiply_stage(const u8* stage, const Places&, Sums& sums) {
    const u32 lane = lane_index();
    const u32 warp_m = warp_index() % kConfig.warps_m, warp_n = warp_index() / kConfig.warps_m;
    const u32 row_a = warp_m * kWarpM + lane / 8, row_b = warp_n * kWarpN + lane % 8;
    const u8* const stage_b = stage + kConfig.block_m * kRowBytes;
    CONVOY_UNROLL
    for (u32 chunk = 0; chunk < kRowBytes / 16; ++chunk) {
      float a[kTilesM * 4][4];
      CONVOY_UNROLL
      for (int r = 0; r < kTilesM * 4; ++r)
        four(stage + igemm_swizzle(kRowBytes, row_a + 4 * r, chunk), a[r]);
      CONVOY_UNROLL
      for (int j = 0; j < kTilesN; ++j) {
        float b[4];
        four(stage_b + igemm_swizzle(kRowBytes, row_b + 8 * j, chunk), b);
        CONVOY_UNROLL
        for (int r = 0; r < kTilesM * 4; ++r) {
          CONVOY_UNROLL
          for (int k = 0; k < 4; ++k)
            sums[r / 4][j][r % 4] = fused_multiply_add(a[r][k], b[k], sums[r / 4][j][r % 4]);
        }
      }
    }
  }

  static CONVOY_DEVICE u32 row_of_sum(int i, int e) { return (i * 4 + e) * 4 + lane_index() / 8; }
  static CONVOY_DEVICE u32 column_of_sum(int j, int) { return j * 8 + lane_index() % 8; }
};

template <bool kPlain>
struct IgemmMath {
  template <IgemmConfig kConfig>
  using Of = IgemmMatrix<kConfig>;
};
template <>
struct IgemmMath<true> {
  template <IgemmConfig kConfig>
  using Of = IgemmPlain<kConfig>;
};

}  // namespace convoy
