// One fprop problem with its operands as plain numbers: what tier files may read without sharing
// inline functions with other tiers.
#pragma once

#include <convoy/run_args.h>

#include "kernel/cpu/epilogue_args.h"

namespace convoy {

struct Geometry {
  DType dtype;
  int64_t N, C, K, cpg, kpg;
  int64_t in[3], out[3], filter[3], stride[3], dilation[3], pad[3];  // (D,H,W); pad at the begin
  const void* x;
  void* y;
  int64_t x_stride[5], y_stride[5];  // (N,C,D,H,W) and (N,K,Z,P,Q), in elements
  Epilogue epilogue;
};

Geometry geometry(const ConvProblem& p, const RunArgs& args);

}  // namespace convoy
