// What is compiled into a block-diagonal kernel, and what it is launched with.
#pragma once

#include "kernel/gpu/device/conv_args.h"
#include "kernel/gpu/device/elem.h"

namespace convoy {

// A warp owns `tiles` times 8 output channels of 16 pixels; a block k_warps times q_warps warps.
struct BlockDiagonalConfig {
  Elem elem = Elem::kF16;
  EpilogueKind epilogue = {};
  int cpg = 1, kpg = 1;
  int T = 1, R = 3, S = 3;
  int row_stride = 1;  // between outputs, in input rows of one phase (see BlockDiagonalArgs)
  int column_stride = 1, column_dilation = 1;
  int tiles = 4;
  int k_warps = 2, q_warps = 4;
  int streams = 1;  // 1, 2 or 4 planes or strips whose 16, 8 or 4 columns make up a warp's pixels
  int stages = 4;   // rows in shared memory
};

// Rows with a dilation d fall apart into `phases`: outputs p = phase + phases*j read the input rows
// phase*stride - pad + d*(row_stride*j + r) only. A unit is a strip of `segment` outputs j of one
// (n, z, phase); its block walks those rows once.
struct BlockDiagonalArgs : ConvArgs {
  u32 channel_blocks, column_blocks, strips, phases, units;
  i32 segment, row_step;
  i64 x_row_bytes, y_row_bytes;  // between neighbouring rows of a unit
};

}  // namespace convoy
