// What every CPU kernel does after its sums: bias, activation. Plain data for the tier files.
#pragma once

#include <convoy/problem.h>
#include <convoy/run_args.h>

namespace convoy {

// Bias as an operand: null, or in the storage type of the tensors, or f32.
struct Epilogue {
  const void* bias = nullptr;
  int64_t bias_stride = 0;
  bool bias_is_f32 = false;
  Activation activation = Activation::kNone;
};

inline Epilogue epilogue(const ConvProblem& p, const RunArgs& args) {
  if (p.bias == BiasType::kNone) return {.activation = p.activation};
  return {args.bias.data, args.bias.strides[0], p.bias == BiasType::kF32 || size_of(p.dtype) == 4,
          p.activation};
}

}  // namespace convoy
