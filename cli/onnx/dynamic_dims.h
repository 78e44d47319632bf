// The dims that a model leaves open, set from the command line.
#pragma once

#include <convoy/status.h>
#include <onnx/onnx_pb.h>

#include "onnx/onnx_model.h"

namespace convoy::cli {

// A dim of an input that no option sets.
struct OpenDim {
  std::string name;  // what --dim takes
  std::string input;
  bool first = false;  // --batch sets it too
};

// Writes the sizes of `options` into the model's inputs and gives the dims that stay open.
// kInvalid where an option fits no open dim, or --batch contradicts a fixed one.
Result<std::vector<OpenDim>> set_dims(onnx::ModelProto& model, const OnnxOptions& options);

}  // namespace convoy::cli
