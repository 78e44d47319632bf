// A model's graph with its subgraphs, flattened: values by index, nodes in the order they run.
#pragma once

#include <convoy/status.h>
#include <onnx/onnx_pb.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace convoy::cli {

using Sizes = std::vector<int64_t>;

inline constexpr int64_t kMostExtent = int64_t{1} << 40;  // of one axis; sums of two cannot wrap
inline constexpr size_t kMostAxes = 8;

struct Value {
  std::string name;
  std::optional<Sizes> shape;  // complete, every extent in [0, kMostExtent]
  const onnx::TensorProto* constant = nullptr;
  std::optional<std::vector<int64_t>> ints;  // of small constants, and of shapes computed from them
  std::optional<std::vector<double>> reals;
  int32_t type = 0;       // onnx::TensorProto::DataType of constants and inputs, 0: unknown
  int producer = -1;      // index of a node
  bool top_level = true;  // not of a subgraph
};

struct Node {
  const onnx::NodeProto* proto = nullptr;
  std::vector<int> inputs;  // indices of values, -1: left out
  std::vector<int> outputs;
};

// Points into the model, which must outlive it.
struct Graph {
  std::vector<Value> values;
  std::vector<Node> nodes;
  int64_t opset = 0;
};

// kInvalid where a tensor is broken, a value is written twice, or a node reads what no earlier
// node writes (a cycle or a wrong order).
Result<Graph> flatten(const onnx::ModelProto& model, const std::string& folder);

}  // namespace convoy::cli
