// One Conv node as a ConvProblem.
#include "onnx/conv_node.h"

#include <fmt/format.h>

#include "onnx/attributes.h"
#include "onnx/window.h"

namespace convoy::cli {
namespace {

Status fault(const onnx::NodeProto& node, const std::string& what) {
  return invalid(fmt::format("onnx node '{}': {}", node_label(node), what));
}

Status check_shapes(const onnx::NodeProto& node, const ConvOperands& o, int64_t G) {
  if (o.w.size() != o.x.size()) {
    return fault(node, fmt::format("weight {} must have as many axes as the input {}; export the "
                                   "model again",
                                   shape_text(o.w), shape_text(o.x)));
  }
  int64_t expected = 0;
  if (G < 1 || __builtin_mul_overflow(o.w[1], G, &expected) || o.x[1] != expected) {
    return fault(node, fmt::format("input has {} channels, weight {} with group={} expects {}; "
                                   "export the model again",
                                   o.x[1], shape_text(o.w), G,
                                   G < 1 ? "group >= 1" : fmt::format("{}", expected)));
  }
  const Sizes kernel = ints_attribute(node, "kernel_shape");
  const Sizes filter(o.w.begin() + 2, o.w.end());
  if (!kernel.empty() && kernel != filter) {
    return fault(node, fmt::format("kernel_shape {} must be that of the weight, {}; export the "
                                   "model again",
                                   shape_text(kernel), shape_text(filter)));
  }
  return {};
}

}  // namespace

Result<ConvProblem> conv_problem(const onnx::NodeProto& node, const ConvOperands& o) {
  const int rank = static_cast<int>(o.x.size()) - 2;
  if (rank < 1 || rank > 3) {
    return unsupported(
        fmt::format("input {} has {} spatial axes, Convoy has conv1d, conv2d and "
                    "conv3d",
                    shape_text(o.x), rank));
  }
  const int64_t G = int_attribute(node, "group", 1);
  if (Status s = check_shapes(node, o, G); !s.ok()) return s;
  Result<Window> window =
      window_of(node, Sizes(o.x.begin() + 2, o.x.end()), Sizes(o.w.begin() + 2, o.w.end()));
  if (!window) return window.status();
  ConvProblem p{.rank = rank,
                .N = o.x[0],
                .C = o.x[1],
                .K = o.w[0],
                .G = G,
                .bias = o.bias ? BiasType::kSame : BiasType::kNone};
  for (size_t i = 0; i < static_cast<size_t>(rank); ++i) {
    const size_t d = static_cast<size_t>(p.first_axis()) + i;
    p.in[d] = o.x[2 + i];
    p.filter[d] = o.w[2 + i];
    p.stride[d] = window->stride[i];
    p.dilation[d] = window->dilation[i];
    p.pad_lo[d] = window->pad_lo[i];
    p.pad_hi[d] = window->pad_hi[i];
  }
  if (Status s = validate(p); !s.ok()) return fault(node, s.message());
  return p;
}

}  // namespace convoy::cli
