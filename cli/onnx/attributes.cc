// Attributes of an ONNX node by name.
#include "onnx/attributes.h"

#include <fmt/format.h>

namespace convoy::cli {

const onnx::AttributeProto* find_attribute(const onnx::NodeProto& node, std::string_view name) {
  for (const onnx::AttributeProto& a : node.attribute()) {
    if (a.name() == name) return &a;
  }
  return nullptr;
}

int64_t int_attribute(const onnx::NodeProto& node, std::string_view name, int64_t fallback) {
  const onnx::AttributeProto* a = find_attribute(node, name);
  return a == nullptr ? fallback : a->i();
}

std::string string_attribute(const onnx::NodeProto& node, std::string_view name,
                             std::string_view fallback) {
  const onnx::AttributeProto* a = find_attribute(node, name);
  return a == nullptr ? std::string(fallback) : a->s();
}

std::vector<int64_t> ints_attribute(const onnx::NodeProto& node, std::string_view name) {
  const onnx::AttributeProto* a = find_attribute(node, name);
  if (a == nullptr) return {};
  return {a->ints().begin(), a->ints().end()};
}

std::string node_label(const onnx::NodeProto& node) {
  if (!node.name().empty()) return node.name();
  return fmt::format("{} -> {}", node.op_type(), node.output_size() > 0 ? node.output(0) : "?");
}

}  // namespace convoy::cli
