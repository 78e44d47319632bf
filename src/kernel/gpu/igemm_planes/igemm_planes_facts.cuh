// What a configuration fixes in the implicit GEMM over channel planes, and what a thread keeps.
//
// Elements of two bytes that lie anywhere pass through registers, since no asynchronous copy is so
// small; all else is copied straight into shared memory.
#pragma once

#include "kernel/gpu/device/exact.h"
#include "kernel/gpu/igemm_planes/igemm_planes_config.h"

namespace convoy {

template <IgemmPlanesConfig kConfig>
struct IgemmPlanesFacts {
  using E = Element<kConfig.elem>;
  using Stored = Storage<kConfig.elem>;

  static constexpr int kElementBytes = igemm_planes_element_bytes(kConfig);
  static constexpr int kThreads = igemm_planes_threads(kConfig);
  static constexpr int kBlockK = igemm_planes_block_k(kConfig);
  static constexpr int kWarpM = kConfig.block_m / kConfig.warps_m;
  static constexpr int kWarpN = kConfig.block_n / kConfig.warps_n;
  static constexpr int kTilesM = kWarpM / 16;
  static constexpr int kTilesN = kWarpN / 8;
  static constexpr int kTaps = kConfig.T * kConfig.R * kConfig.S;
  static constexpr int kGemmK = kTaps * kConfig.cpg;
  static constexpr int kSteps = (kGemmK + kBlockK - 1) / kBlockK;
  static constexpr int kStageBytes = (kConfig.block_m + kConfig.block_n) * kIgemmPlanesRowBytes;
  static constexpr int kPitch = kConfig.block_m * kElementBytes;  // of a row of x
  static_assert(kWarpM % 16 == 0 && (kWarpM & (kWarpM - 1)) == 0 && kWarpN % 8 == 0);

  // A thread loads the same columns of every row of x that it loads.
  static constexpr bool kWhole = kConfig.x_bytes > kElementBytes;  // planes are read whole
  static constexpr bool kHeldX = kConfig.x_bytes < 4;
  static constexpr int kOwned = kHeldX ? 2 : kConfig.x_bytes / kElementBytes;
  static constexpr int kColumns = kConfig.block_m / kOwned;
  static constexpr int kRowsAtOnce = kThreads / kColumns;
  static constexpr int kRowsX = kBlockK / kRowsAtOnce;
  static_assert(kThreads % kColumns == 0 && kBlockK % kRowsAtOnce == 0);
  static_assert(kWhole || kColumns % 32 == 0, "a warp loads one row at a time");
  static constexpr bool kMasked = kTaps <= 32;  // one bit for each tap
  static constexpr bool kHasAxis[3] = {kConfig.T > 1, kConfig.R > 1, kConfig.S > 1};

  // And the same piece of every row of w.
  static constexpr bool kHeldW = kConfig.w_bytes < 4;
  static constexpr int kPieceBytes = kHeldW ? 4 : kConfig.w_bytes;
  static constexpr int kPieces = kIgemmPlanesRowBytes / kPieceBytes;
  static constexpr int kLinesAtOnce = kThreads / kPieces;
  static constexpr int kLinesW = (kConfig.block_n + kLinesAtOnce - 1) / kLinesAtOnce;
  // Rows further down by a multiple of 8 keep their swizzle.
  static_assert(kLinesAtOnce % 8 == 0);
  static_assert(kGemmK * kElementBytes % kConfig.w_bytes == 0);

  struct Tile {
    i32 group, m, n;  // first of the tile
  };
  using Sums = float[kTilesM][kTilesN][4];
  // What is on its way through registers.
  struct Held {
    u32 x[kHeldX ? kRowsX : 1], w[kHeldW ? kLinesW : 1];
  };
  // What a thread knows of its columns of x before it meets a tap.
  struct Columns {
    i32 offset[kOwned];     // of the window's first tap, which may lie on padding
    u32 taps[kOwned];       // those inside the input
    i32 origin[kOwned][3];  // without a mask: of the window; far outside past gemm_m
  };
  // Of one gemm_k.
  struct Tap {
    i32 delta, along[3];
    u32 bit;
  };
};

}  // namespace convoy
