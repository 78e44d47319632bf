// The dims that a model leaves open, set from the command line.
#include "onnx/dynamic_dims.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

namespace convoy::cli {
namespace {

using Dim = onnx::TensorShapeProto_Dimension;

// Exporters also write 0, -1 or "?" for a dim without a name.
bool is_open(const Dim& dim) {
  return !dim.has_dim_value() || dim.dim_value() < 1;
}

bool has_name(const Dim& dim) {
  return !dim.dim_param().empty() && dim.dim_param() != "?";
}

class Setter {
 public:
  explicit Setter(const OnnxOptions& options) : options_(options), named_(options.dims) {}

  void set_input(onnx::ValueInfoProto& input);
  void set_named(onnx::ValueInfoProto& value) const;
  Status check_unused() const;
  std::vector<OpenDim> open;

 private:
  const OnnxOptions& options_;
  std::map<std::string, int64_t> named_;  // with the names that --batch turned out to set
  std::set<std::string> used_, known_;
  bool batch_used_ = false;
  std::optional<std::string> fixed_batch_;  // an input whose first dim differs from --batch
};

void Setter::set_input(onnx::ValueInfoProto& input) {
  auto& dims = *input.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim();
  for (int axis = 0; axis < dims.size(); ++axis) {
    Dim& dim = dims[axis];
    if (!is_open(dim)) {
      if (axis != 0 || !options_.batch) continue;
      if (dim.dim_value() == *options_.batch) {
        batch_used_ = true;
      } else {
        fixed_batch_ =
            fmt::format("input '{}' has the fixed batch {}", input.name(), dim.dim_value());
      }
      continue;
    }
    const std::string place = fmt::format("{}.{}", input.name(), axis);
    const std::string name = has_name(dim) ? dim.dim_param() : place;
    known_.insert(name);
    std::optional<int64_t> size;
    for (const std::string& key : {place, name}) {
      const auto at = options_.dims.find(key);
      if (at == options_.dims.end()) continue;
      used_.insert(key);
      size = at->second;
    }
    if (!size && axis == 0 && options_.batch) {
      size = options_.batch;
      batch_used_ = true;
      if (has_name(dim)) named_.emplace(name, *size);
    }
    if (!size && named_.count(name) > 0) size = named_.at(name);
    if (size) {
      dim.set_dim_value(*size);
    } else {
      if (!has_name(dim)) dim.clear_value();
      open.push_back({name, input.name(), axis == 0});
    }
  }
}

void Setter::set_named(onnx::ValueInfoProto& value) const {
  if (!value.type().tensor_type().has_shape()) return;
  for (Dim& dim : *value.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim()) {
    const auto at = named_.find(dim.dim_param());
    if (is_open(dim) && has_name(dim) && at != named_.end()) dim.set_dim_value(at->second);
  }
}

Status Setter::check_unused() const {
  for (const auto& [name, size] : options_.dims) {
    if (used_.count(name) > 0) continue;
    return invalid(fmt::format(
        "onnx model: --dim {}={} names no open dim of its inputs; they are: "
        "{}",
        name, size, known_.empty() ? "none" : fmt::format("{}", fmt::join(known_, ", "))));
  }
  if (options_.batch && !batch_used_) {
    return invalid(
        fmt::format("onnx model: --batch {} cannot be set: {}; leave out --batch or "
                    "export the model with a dynamic batch",
                    *options_.batch, fixed_batch_.value_or("no input has a batch")));
  }
  return {};
}

}  // namespace

Result<std::vector<OpenDim>> set_dims(onnx::ModelProto& model, const OnnxOptions& options) {
  onnx::GraphProto& graph = *model.mutable_graph();
  std::set<std::string> initialized;
  for (const onnx::TensorProto& tensor : graph.initializer())
    initialized.insert(tensor.name());
  Setter setter(options);
  for (onnx::ValueInfoProto& input : *graph.mutable_input()) {
    if (initialized.count(input.name()) > 0 || !input.type().tensor_type().has_shape()) continue;
    setter.set_input(input);
  }
  if (Status s = setter.check_unused(); !s.ok()) return s;
  for (onnx::ValueInfoProto& value : *graph.mutable_value_info())
    setter.set_named(value);
  for (onnx::ValueInfoProto& value : *graph.mutable_output())
    setter.set_named(value);
  return std::move(setter.open);
}

}  // namespace convoy::cli
