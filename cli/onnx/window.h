// The sliding window of a Conv or pooling node: strides, dilations and resolved padding.
#pragma once

#include <convoy/status.h>

#include "onnx/graph.h"

namespace convoy::cli {

// One entry per spatial axis, outermost first.
struct Window {
  Sizes stride, dilation, pad_lo, pad_hi;
};

// kInvalid where a list has the wrong length or auto_pad is none of the four words. auto_pad is
// resolved for `input` and `filter`, the spatial extents; it overrules `pads`.
Result<Window> window_of(const onnx::NodeProto& node, const Sizes& input, const Sizes& filter);

}  // namespace convoy::cli
