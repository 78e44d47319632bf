// The constant weights and biases of a model, each read once.
#include "onnx/weights.h"

#include "onnx/attributes.h"
#include "onnx/tensor_data.h"

namespace convoy::cli {

WeightReader::Source WeightReader::source(int value) const {
  Source s{value, {}};
  for (;;) {
    const int producer = graph_.values[static_cast<size_t>(s.value)].producer;
    if (producer < 0) return s;
    const Node& node = graph_.nodes[static_cast<size_t>(producer)];
    const bool cast = node.proto->op_type() == "Cast";
    if ((!cast && node.proto->op_type() != "Identity") || node.inputs.size() != 1 ||
        node.inputs[0] < 0) {
      return s;
    }
    if (cast) s.casts.push_back(static_cast<int32_t>(int_attribute(*node.proto, "to", 0)));
    s.value = node.inputs[0];
  }
}

std::optional<DType> WeightReader::dtype(int value) const {
  const Source s = source(value);
  if (!s.casts.empty()) return dtype_of(s.casts.front());
  return dtype_of(graph_.values[static_cast<size_t>(s.value)].type);
}

Result<std::shared_ptr<const OnnxTensor>> WeightReader::read(int value, DType dtype) {
  const Source s = source(value);
  const onnx::TensorProto* tensor = graph_.values[static_cast<size_t>(s.value)].constant;
  std::shared_ptr<const OnnxTensor>& done = done_[{value, dtype}];
  if (done || tensor == nullptr || !dtype_of(tensor->data_type())) return done;
  Result<OnnxTensor> out = read_tensor(*tensor, folder_);
  for (auto cast = s.casts.rbegin(); out && cast != s.casts.rend(); ++cast) {
    const std::optional<DType> to = dtype_of(*cast);
    if (!to) return std::shared_ptr<const OnnxTensor>();  // through an integer: left to run time
    out = convert(*std::move(out), *to);
  }
  if (out) out = convert(*std::move(out), dtype);
  if (!out) return out.status();
  done = std::make_shared<const OnnxTensor>(*std::move(out));
  return done;
}

}  // namespace convoy::cli
