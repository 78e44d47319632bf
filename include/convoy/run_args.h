// RunArgs: the operands of one call, as plans take them and kernels get them.
#pragma once

#include <convoy/device.h>
#include <convoy/problem.h>
#include <convoy/tensor.h>

#include <cstddef>
#include <string>

namespace convoy {

// Weights in the order that the chosen kernel reads; owned by the caller, valid for plans of the
// same problem, kernel and config only, which Plan::run checks.
struct PackedWeights {
  Buffer buffer;
  std::string kernel, config;
  ConvProblem problem;
};

// The operands of a pass. fprop: x w [bias] -> y; dgrad: dy w -> dx; wgrad: x dy -> dw [db].
struct RunArgs {
  TensorView x, w, bias, y;
  TensorView dy, dx, dw, db;
  void* workspace = nullptr;  // at least Plan::workspace_bytes(), 64-byte aligned
  size_t workspace_bytes = 0;
  const PackedWeights* packed = nullptr;  // instead of w
};

}  // namespace convoy
