// Arguments of the general kernel for its tier files: plain data.
#pragma once

#include "kernel/cpu/epilogue_args.h"

namespace convoy {

struct GeneralArgs {
  // At most this many outputs along W and output channels share a pass over the taps; their f32
  // sums take 8 KiB of stack.
  static constexpr int kChunk = 256, kBlock = 8;

  DType dtype = DType::kF32;
  const void* x = nullptr;
  const void* w = nullptr;
  void* y = nullptr;
  Epilogue epilogue;
  int64_t G = 1, cpg = 1, kpg = 1;
  int64_t in[3], out[3], filter[3], stride[3], pad[3], dilation[3];
  int64_t x_stride[5], w_stride[5], y_stride[5];  // (N,C,D,H,W) (K,C/g,T,R,S) (N,K,Z,P,Q)

  // An item is one chunk of one output row of one block of channels.
  int64_t blocks = 1, chunks = 1, items = 0, items_per_task = 1;
};

void general_baseline(const GeneralArgs& args, int64_t task);
void general_avx2(const GeneralArgs& args, int64_t task);
void general_avx512(const GeneralArgs& args, int64_t task);

}  // namespace convoy
