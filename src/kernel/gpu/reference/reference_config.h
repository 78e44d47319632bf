// What is compiled into the reference kernels of a GPU, and what they are launched with.
#pragma once

#include "kernel/gpu/device/conv_args.h"
#include "kernel/gpu/device/elem.h"

namespace convoy {

enum class ReferencePass : u32 { kFprop, kDgrad, kWgrad };

// The bias kind of wgrad says how db is stored; without one as the tensors are.
struct ReferenceConfig {
  Elem elem = Elem::kF32;
  EpilogueKind epilogue = {};
  ReferencePass pass = ReferencePass::kFprop;
};

// x and y are dx and dy where the pass says so. What is null is not computed.
struct ReferenceArgs : ConvArgs {
  void* out;  // y, dx or dw
  void* db;
  i64 db_stride;
};

inline constexpr int kReferenceThreads = 128;

}  // namespace convoy
