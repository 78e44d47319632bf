// A model's graph with its subgraphs, flattened: values by index, nodes in the order they run.
#include "onnx/graph.h"

#include <fmt/format.h>

#include <unordered_map>

#include "onnx/attributes.h"
#include "onnx/tensor_data.h"

namespace convoy::cli {
namespace {

struct Scope {
  std::unordered_map<std::string, int> values;
  const Scope* outer = nullptr;
};

// Recursion follows subgraphs, whose depth the parser limits (100 messages, three to a level).
class Flattener {
 public:
  explicit Flattener(const std::string& folder) : folder_(folder) {}

  Status add_graph(const onnx::GraphProto& graph, const Scope* outer);
  Graph graph;

 private:
  Result<int> define(const std::string& name, Scope& scope);
  Status add_initializers(const onnx::GraphProto& g, Scope& scope);
  Status add_inputs(const onnx::GraphProto& g, Scope& scope);
  Status add_node(const onnx::NodeProto& node, Scope& scope);
  Status set_constant(const onnx::TensorProto& tensor, Value& value);
  Status set_constant(const onnx::NodeProto& node, Value& value);

  const std::string& folder_;
};

Result<int> Flattener::define(const std::string& name, Scope& scope) {
  const int id = static_cast<int>(graph.values.size());
  if (!name.empty() && !scope.values.emplace(name, id).second) {
    return invalid(
        fmt::format("onnx graph: value '{}' is written twice; export the model again", name));
  }
  graph.values.push_back({.name = name, .top_level = scope.outer == nullptr});
  return id;
}

Status Flattener::set_constant(const onnx::TensorProto& tensor, Value& value) {
  if (Status s = check_tensor(tensor, folder_); !s.ok()) return s;
  value.constant = &tensor;
  value.type = tensor.data_type();
  value.ints = small_integers(tensor);
  value.reals = small_reals(tensor);
  if (static_cast<size_t>(tensor.dims_size()) <= kMostAxes) {
    value.shape = Sizes(tensor.dims().begin(), tensor.dims().end());
  }
  return {};
}

Status Flattener::set_constant(const onnx::NodeProto& node, Value& value) {
  if (const auto* a = find_attribute(node, "value")) return set_constant(a->t(), value);
  if (const auto* a = find_attribute(node, "value_int")) {
    value.ints = {a->i()};
    value.shape = Sizes{};
  } else if (const auto* ints = find_attribute(node, "value_ints")) {
    value.ints = std::vector<int64_t>(ints->ints().begin(), ints->ints().end());
    value.shape = Sizes{ints->ints_size()};
  } else if (const auto* real = find_attribute(node, "value_float")) {
    value.reals = {static_cast<double>(real->f())};
    value.shape = Sizes{};
  } else if (const auto* reals = find_attribute(node, "value_floats")) {
    value.reals = std::vector<double>(reals->floats().begin(), reals->floats().end());
    value.shape = Sizes{reals->floats_size()};
  }
  return {};
}

Status Flattener::add_initializers(const onnx::GraphProto& g, Scope& scope) {
  for (const onnx::TensorProto& tensor : g.initializer()) {
    Result<int> id = define(tensor.name(), scope);
    if (!id) return id.status();
    if (Status s = set_constant(tensor, graph.values[static_cast<size_t>(*id)]); !s.ok()) return s;
  }
  for (const onnx::SparseTensorProto& tensor : g.sparse_initializer()) {
    if (Result<int> id = define(tensor.values().name(), scope); !id) return id.status();
  }
  return {};
}

Status Flattener::add_inputs(const onnx::GraphProto& g, Scope& scope) {
  for (const onnx::ValueInfoProto& input : g.input()) {
    if (scope.values.count(input.name()) > 0) continue;  // an initializer's default
    Result<int> id = define(input.name(), scope);
    if (!id) return id.status();
    graph.values[static_cast<size_t>(*id)].type = input.type().tensor_type().elem_type();
    if (!input.type().tensor_type().has_shape()) continue;
    Sizes sizes;
    for (const auto& dim : input.type().tensor_type().shape().dim()) {
      if (dim.dim_value() > kMostExtent) {
        return invalid(
            fmt::format("onnx graph: input '{}' claims an extent of {}, at most {} "
                        "makes sense; export the model again",
                        input.name(), dim.dim_value(), kMostExtent));
      }
      if (dim.dim_value() > 0) sizes.push_back(dim.dim_value());
    }
    const bool complete =
        sizes.size() == static_cast<size_t>(input.type().tensor_type().shape().dim_size());
    if (complete && sizes.size() <= kMostAxes) {
      graph.values[static_cast<size_t>(*id)].shape = std::move(sizes);
    }
  }
  return {};
}

Status Flattener::add_node(const onnx::NodeProto& proto, Scope& scope) {
  Node node{.proto = &proto};
  for (const std::string& name : proto.input()) {
    if (name.empty()) {
      node.inputs.push_back(-1);
      continue;
    }
    const Scope* at = &scope;
    while (at != nullptr && at->values.count(name) == 0)
      at = at->outer;
    if (at == nullptr) {
      return invalid(
          fmt::format("onnx graph: node '{}' reads '{}', which no earlier node writes "
                      "(a cycle or a wrong order); export the model again",
                      node_label(proto), name));
    }
    node.inputs.push_back(at->values.at(name));
  }
  for (const onnx::AttributeProto& a : proto.attribute()) {
    if (a.has_g()) {
      if (Status s = add_graph(a.g(), &scope); !s.ok()) return s;
    }
    for (const onnx::GraphProto& g : a.graphs()) {
      if (Status s = add_graph(g, &scope); !s.ok()) return s;
    }
  }
  const int index = static_cast<int>(graph.nodes.size());
  for (const std::string& name : proto.output()) {
    Result<int> id = define(name, scope);
    if (!id) return id.status();
    graph.values[static_cast<size_t>(*id)].producer = index;
    node.outputs.push_back(*id);
  }
  if (proto.op_type() == "Constant" && node.outputs.size() == 1) {
    Value& value = graph.values[static_cast<size_t>(node.outputs[0])];
    if (Status s = set_constant(proto, value); !s.ok()) return s;
  }
  graph.nodes.push_back(std::move(node));
  return {};
}

Status Flattener::add_graph(const onnx::GraphProto& g, const Scope* outer) {
  Scope scope{.outer = outer};
  if (Status s = add_initializers(g, scope); !s.ok()) return s;
  if (Status s = add_inputs(g, scope); !s.ok()) return s;
  for (const onnx::NodeProto& node : g.node()) {
    if (Status s = add_node(node, scope); !s.ok()) return s;
  }
  return {};
}

}  // namespace

Result<Graph> flatten(const onnx::ModelProto& model, const std::string& folder) {
  Flattener flattener(folder);
  for (const onnx::OperatorSetIdProto& set : model.opset_import()) {
    if (set.domain().empty() || set.domain() == "ai.onnx") flattener.graph.opset = set.version();
  }
  if (Status s = flattener.add_graph(model.graph(), nullptr); !s.ok()) return s;
  return std::move(flattener.graph);
}

}  // namespace convoy::cli
