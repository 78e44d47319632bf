// Attributes of an ONNX node by name.
#pragma once

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace convoy::cli {

const onnx::AttributeProto* find_attribute(const onnx::NodeProto& node, std::string_view name);

int64_t int_attribute(const onnx::NodeProto& node, std::string_view name, int64_t fallback);
std::string string_attribute(const onnx::NodeProto& node, std::string_view name,
                             std::string_view fallback);
// Empty where the node lacks it, or holds no list under that name.
std::vector<int64_t> ints_attribute(const onnx::NodeProto& node, std::string_view name);

// Its name, or "Conv -> y" for a node without one: how messages call it.
std::string node_label(const onnx::NodeProto& node);

}  // namespace convoy::cli
