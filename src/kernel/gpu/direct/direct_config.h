// What is compiled into a direct kernel, and what it is launched with.
#pragma once

#include "kernel/gpu/device/conv_args.h"
#include "kernel/gpu/device/elem.h"

namespace convoy {

// A thread computes k_tile channels of p_tile x q_tile neighbouring outputs. Strides, dilations and
// filter along the depth axis but for T are arguments.
struct DirectConfig {
  Elem elem = Elem::kF32;
  EpilogueKind epilogue = {};
  bool channels_last = false;
  int cpg = 1, kpg = 1;
  int T = 1, R = 3, S = 3;
  int row_stride = 1, row_dilation = 1, column_stride = 1, column_dilation = 1;
  int k_tile = 1, p_tile = 2, q_tile = 4;
  int rows = 3;    // filter rows that are unrolled: R, or 1 in a loop
  int vector = 1;  // elements of one load of x: columns, or channels of one group
  int store = 1;   // elements of one store of y along the columns; channels last stores k_tile
  int lead = 0;    // columns between an aligned vector and the window of a tile (channels first)
  int lanes = 32;  // neighbouring threads along the channels (channels last)
  int blocks = 4;  // resident on a multiprocessor, which bounds the registers
};

inline constexpr int kDirectThreads = 128;
inline constexpr int kStagedAtOnce = 8;  // weights that a thread fetches at once, channels last

// Channels first: a thread's number counts (n, k tile, z, p tile, q tile), the last fastest.
// Channels last: the block's counts (position, channel block), a position counts (n, z, p tile,
// q tile), and `walk` of them follow one another in a thread.
struct DirectArgs : ConvArgs {
  Divider<i32> q_tiles, p_tiles, depths, k_tiles;  // depths: Z; k_tiles or channel blocks
  i32 total;                                       // threads, or positions
  i32 walk;
};

}  // namespace convoy
