// The launch arguments that every forward kernel takes, and the part of the epilogue that is
// compiled in. Portable: the host fills them, device text reads them.
#pragma once

#include "tensor/igemm_descriptors.h"

namespace convoy {

// Strides and sizes are in elements. What a family compiles in (filter, cpg, ...) is here too, for
// its cold paths.
struct ConvArgs {
  const void* x;
  const void* w;
  const void* bias;
  void* y;
  i64 bias_stride;
  IgemmSizes sizes;
};

enum class BiasKind : u32 { kNone, kElement, kF32 };  // kElement: stored as the tensors are
enum class Act : u32 { kNone, kRelu, kRelu6, kSilu, kGelu, kHardswish };

struct EpilogueKind {
  BiasKind bias = BiasKind::kNone;
  Act act = Act::kNone;
};

}  // namespace convoy
