// channel_lanes: small groups in nhwc, one lane an output channel, whole groups packed in a vector.
#pragma once

#include "kernel/cpu/geometry.h"

namespace convoy {

// How groups fill vectors. Every block of lanes has the same pattern: lane l of block b computes
// output channel b * used + l and reads, for the group's j-th input channel, lane spread[j][l] of
// the vector at input channel x_channel(b).
struct LanePattern {
  int lanes;                 // of the tier
  int used;                  // lanes that hold an output channel
  int64_t blocks;            // vectors that cover K
  int64_t blocks_per_group;  // 1 where a block holds whole groups
  int groups_per_block;      // 1 where a group spans several blocks
  bool identity;             // cpg == kpg == 1: the spread is the identity
  int32_t spread[8][16];     // by j < cpg <= 8
};

// Filters of more columns are declined: the edge table of a task lies on its stack.
inline constexpr int64_t kMaxFilterColumns = 4096;

// Blocks of one task, whose state lies on its stack.
inline constexpr int64_t kMaxChunk = 64;

struct ChannelLanesArgs {
  Geometry g;
  LanePattern pattern;
  const float* weights;  // [block][tap][j][lane]
  int64_t chunk;         // blocks that one task walks
  int64_t band;          // output rows that one task walks
  int64_t segment;       // output columns that one task walks: whole tiles of 7 and of 8
  bool fetch_ahead;      // the operands outgrow L2: ask for the next band during this one
};

void channel_lanes_baseline(const ChannelLanesArgs& args, int64_t task);
void channel_lanes_avx2(const ChannelLanesArgs& args, int64_t task);
void channel_lanes_avx512(const ChannelLanesArgs& args, int64_t task);

}  // namespace convoy
