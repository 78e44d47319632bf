// From an ONNX file to its Conv nodes: load, set dims, flatten, infer shapes, collect.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>
#include <google/protobuf/stubs/logging.h>

#include <filesystem>
#include <fstream>

#include "onnx/attributes.h"
#include "onnx/conv_node.h"
#include "onnx/dynamic_dims.h"
#include "onnx/infer.h"
#include "onnx/onnx_model.h"
#include "onnx/shape_rules.h"
#include "onnx/weights.h"

namespace convoy::cli {
namespace {

bool is_convolution(const onnx::NodeProto& node) {
  const std::string& op = node.op_type();
  return op.find("Conv") != std::string::npos && op.find("Convert") == std::string::npos;
}

bool is_ours(const onnx::NodeProto& node) {
  return node.op_type() == "Conv" && (node.domain().empty() || node.domain() == "ai.onnx");
}

bool known(const Graph& graph, int value) {
  return value >= 0 && graph.values[static_cast<size_t>(value)].shape.has_value();
}

// The first operator against the flow whose operands are known and whose output is not.
std::string why_unknown(const Graph& graph, int value) {
  for (;;) {
    const Value& v = graph.values[static_cast<size_t>(value)];
    if (v.producer < 0) return fmt::format("the shape of input '{}' is not known", v.name);
    const Node& node = graph.nodes[static_cast<size_t>(v.producer)];
    int next = -1;
    for (const int input : node.inputs) {
      if (next < 0 && input >= 0 && !known(graph, input)) next = input;
    }
    if (next < 0) {
      return fmt::format("the output shape of {} '{}' is not known", node.proto->op_type(),
                         node_label(*node.proto));
    }
    value = next;
  }
}

class Collector {
 public:
  Collector(const Graph& graph, const std::string& folder, const OnnxOptions& options)
      : graph_(graph), options_(options), weights_(graph, folder) {}

  Status add(const Node& node);
  void add_function(const onnx::FunctionProto& function);
  OnnxModel model;

 private:
  Status fill(const Node& node, OnnxConv& conv);
  Status fill_values(const Node& node, OnnxConv& conv);

  const Graph& graph_;
  const OnnxOptions& options_;
  WeightReader weights_;
};

Status Collector::fill_values(const Node& node, OnnxConv& conv) {
  const int w = node.inputs[1];
  const int bias = node.inputs.size() > 2 ? node.inputs[2] : -1;
  conv.problem.dtype = options_.dtype.value_or(weights_.dtype(w).value_or(DType::kF32));
  conv.problem.layout = options_.layout;
  auto values = weights_.read(w, conv.problem.dtype);
  if (!values) return values.status();
  conv.w = *values;
  if (bias < 0) return {};
  const Value& b = graph_.values[static_cast<size_t>(bias)];
  if (b.shape && *b.shape != Sizes{conv.problem.K}) {
    return invalid(
        fmt::format("onnx node '{}': bias has shape {}, expected {}; export the model "
                    "again",
                    conv.node, shape_text(*b.shape), conv.problem.K));
  }
  values = weights_.read(bias, conv.problem.dtype);
  if (!values) return values.status();
  conv.bias = *values;
  return {};
}

Status Collector::fill(const Node& node, OnnxConv& conv) {
  if (node.inputs.size() < 2 || node.inputs[0] < 0 || node.inputs[1] < 0) {
    return invalid(
        fmt::format("onnx node '{}': a Conv needs an input and a weight; export the "
                    "model again",
                    conv.node));
  }
  for (const int input : {node.inputs[0], node.inputs[1]}) {
    if (known(graph_, input)) continue;
    conv.state = OnnxConv::State::kUnknown;
    conv.reason = why_unknown(graph_, input);
    return {};
  }
  const auto shape = [&](size_t i) {
    return *graph_.values[static_cast<size_t>(node.inputs[i])].shape;
  };
  const bool bias = node.inputs.size() > 2 && node.inputs[2] >= 0;
  Result<ConvProblem> problem = conv_problem(*node.proto, {shape(0), shape(1), bias});
  if (!problem && problem.status().code() == Code::kUnsupported) {
    conv.state = OnnxConv::State::kSkipped;
    conv.reason = problem.status().message();
    return {};
  }
  if (!problem) return problem.status();
  conv.problem = *problem;
  return fill_values(node, conv);
}

Status Collector::add(const Node& node) {
  if (!is_convolution(*node.proto)) return {};
  OnnxConv conv{.node = node_label(*node.proto)};
  for (const std::string& input : node.proto->input())
    conv.inputs.push_back(input);
  if (is_ours(*node.proto)) {
    if (Status s = fill(node, conv); !s.ok()) return s;
  } else {
    conv.state = OnnxConv::State::kSkipped;
    conv.reason = fmt::format("{} is another operation than Conv", node.proto->op_type());
  }
  model.convs.push_back(std::move(conv));
  return {};
}

void Collector::add_function(const onnx::FunctionProto& function) {
  for (const onnx::NodeProto& node : function.node()) {
    if (!is_ours(node)) continue;
    model.convs.push_back({.node = fmt::format("{}/{}", function.name(), node_label(node)),
                           .state = OnnxConv::State::kUnknown,
                           .reason = "it stands inside a function of the model; inline the "
                                     "functions and export again"});
  }
}

bool all_known(const Graph& graph) {
  for (const Node& node : graph.nodes) {
    if (!is_ours(*node.proto) || node.inputs.size() < 2) continue;
    if (!known(graph, node.inputs[0]) || !known(graph, node.inputs[1])) return false;
  }
  return true;
}

// The own rules first, since libonnx 1.12 misreads some newer operators; each side starts from
// what the other found.
void infer_shapes(const onnx::ModelProto& model, Graph& graph) {
  constexpr int kRounds = 8;
  propagate_shapes(graph);
  for (int round = 0; round < kRounds && !all_known(graph); ++round) {
    if (!infer_with_libonnx(model, graph) || !propagate_shapes(graph)) break;
  }
}

Status missing_dims(const std::vector<OpenDim>& open) {
  std::vector<std::string> names, fixes;
  for (const OpenDim& dim : open) {
    names.push_back(fmt::format("'{}' of input '{}'", dim.name, dim.input));
    fixes.push_back(dim.first ? "--batch N" : fmt::format("--dim {}=N", dim.name));
  }
  return invalid(fmt::format("onnx model: dim {} has no size; give {}", fmt::join(names, ", "),
                             fmt::join(fixes, " ")));
}

Status check_model(const onnx::ModelProto& model, bool parsed) {
  if (!parsed) return invalid("onnx model: truncated, damaged or no ONNX file; export it again");
  if (!model.has_graph() || (model.ir_version() >= 3 && model.opset_import_size() == 0)) {
    return invalid("onnx model: no graph or no opset in the file; export it again");
  }
  return {};
}

Result<OnnxModel> collect(onnx::ModelProto& model, const std::string& folder,
                          const OnnxOptions& options) {
  Result<std::vector<OpenDim>> open = set_dims(model, options);
  if (!open) return open.status();
  Result<Graph> graph = flatten(model, folder);
  if (!graph) return graph.status();
  infer_shapes(model, *graph);
  if (!open->empty() && !all_known(*graph)) return missing_dims(*open);
  Collector collector(*graph, folder, options);
  for (const Node& node : graph->nodes) {
    if (Status s = collector.add(node); !s.ok()) return s;
  }
  for (const onnx::FunctionProto& function : model.functions())
    collector.add_function(function);
  return std::move(collector.model);
}

// protobuf and the standard library report exhausted memory by throwing.
template <class Parse>
Result<OnnxModel> read(const Parse& parse, const std::string& folder, const OnnxOptions& options) {
  google::protobuf::SetLogHandler(nullptr);  // errors go to the caller, not to stderr
  try {
    onnx::ModelProto model;
    if (Status s = check_model(model, parse(model)); !s.ok()) return s;
    return collect(model, folder, options);
  } catch (const std::bad_alloc&) {
    return unavailable("onnx model: out of memory; free some or use a smaller model");
  } catch (const std::exception& e) {
    return invalid(fmt::format("onnx model: {}; export it again", e.what()));
  }
}

}  // namespace

Result<OnnxModel> read_onnx_bytes(std::string_view bytes, const std::string& folder,
                                  const OnnxOptions& options) {
  const auto parse = [&](onnx::ModelProto& model) {
    return bytes.size() <= INT_MAX &&
           model.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
  };
  return read(parse, folder, options);
}

Result<OnnxModel> read_onnx(const std::string& path, const OnnxOptions& options) {
  std::error_code error;
  const auto fault = [&](const std::string& what) {
    return invalid(fmt::format("onnx model: file '{}' {}; name an ONNX file", path, what));
  };
  if (!std::filesystem::is_regular_file(path, error)) {
    return fault(error ? fmt::format("cannot be read ({})", error.message())
                       : "is not a regular file");
  }
  if (std::filesystem::file_size(path, error) > INT_MAX) {
    return fault("exceeds 2 GiB, which ONNX keeps in external data");
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) return fault("cannot be read");
  const auto parse = [&](onnx::ModelProto& model) {
    google::protobuf::io::IstreamInputStream stream(&file);
    return model.ParseFromZeroCopyStream(&stream);
  };
  return read(parse, std::filesystem::path(path).parent_path().string(), options);
}

}  // namespace convoy::cli
