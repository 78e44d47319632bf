// One Conv node as a ConvProblem.
#pragma once

#include <convoy/problem.h>

#include "onnx/graph.h"

namespace convoy::cli {

// What the problem takes from outside the node's attributes.
struct ConvOperands {
  const Sizes& x;
  const Sizes& w;
  bool bias = false;
};

// A checked fprop problem in f32 and NCHW. kInvalid names the node and what disagrees; kUnsupported
// where the rank is none of 1, 2, 3.
Result<ConvProblem> conv_problem(const onnx::NodeProto& node, const ConvOperands& operands);

}  // namespace convoy::cli
