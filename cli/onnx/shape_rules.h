// Output shapes of the operators that stand between Convs, one row of a table each.
#pragma once

#include "onnx/graph.h"

namespace convoy::cli {

// Fills in the shapes, and the values of shape arithmetic, that follow from what is known. True
// where it learned something.
bool propagate_shapes(Graph& graph);

// The operator means something else after opset 17, the newest that libonnx 1.12 knows.
bool changed_after_opset_17(const std::string& op);

}  // namespace convoy::cli
