// Arguments of the general kernel for its tier files: plain data.
#pragma once

#include "kernel/cpu/geometry.h"

namespace convoy {

struct GeneralArgs : Geometry {
  // At most this many outputs along W and output channels share a pass over the taps; their f32
  // sums take 8 KiB of stack.
  static constexpr int kChunk = 256, kBlock = 8;

  const void* w = nullptr;
  int64_t w_stride[5];  // (K,C/g,T,R,S)
  int64_t G = 1;

  // An item is one chunk of one output row of one block of channels.
  int64_t blocks = 1, chunks = 1, items = 0, items_per_task = 1;
};

void general_baseline(const GeneralArgs& args, int64_t task);
void general_avx2(const GeneralArgs& args, int64_t task);
void general_avx512(const GeneralArgs& args, int64_t task);

}  // namespace convoy
