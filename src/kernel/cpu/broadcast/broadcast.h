// broadcast: wide groups, dense and pointwise layers in nhwc; lanes are the outputs of one group
// and each input channel is broadcast over them.
#pragma once

#include "kernel/cpu/geometry.h"

namespace convoy {

struct BroadcastArgs {
  Geometry g;
  const float* weights;  // [group][block][tap][c][vector][lane]
  int vectors;           // of one block of output channels, 1 to 4
  int64_t blocks;        // per group
  int64_t columns;       // of a tile, at most kBroadcastColumns[vectors]
  int64_t band;          // output rows of a task
  int64_t segment;       // output columns of a task
};

// Columns of a tile by vectors: the accumulators fill 24 of 32 registers, or 12 of 16.
inline constexpr int kBroadcastColumns32[] = {0, 14, 12, 8, 6};
inline constexpr int kBroadcastColumns16[] = {0, 10, 6, 4, 3};

void broadcast_baseline(const BroadcastArgs& args, int64_t task);
void broadcast_avx2(const BroadcastArgs& args, int64_t task);
void broadcast_avx512(const BroadcastArgs& args, int64_t task);

}  // namespace convoy
