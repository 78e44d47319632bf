// Shapes that libonnx infers, for what the own rules leave open.
#pragma once

#include "onnx/graph.h"

namespace convoy::cli {

// Runs libonnx's shape inference over the model with the shapes known so far and adds what it
// finds. Silent where it fails: it is the second opinion. True where it learned something.
bool infer_with_libonnx(const onnx::ModelProto& model, Graph& graph);

}  // namespace convoy::cli
