// Small ONNX models built in memory for the tests.
#pragma once

#include <onnx/onnx_pb.h>

#include <string>
#include <vector>

namespace convoy::cli {

class TestModel {
 public:
  explicit TestModel(int64_t opset = 13) {
    model.set_ir_version(8);
    model.add_opset_import()->set_version(opset);
    model.mutable_graph()->set_name("test");
  }

  // A dim of 0 is dynamic and named after its place: d0, d1, ...
  TestModel& input(const std::string& name, const std::vector<int64_t>& dims) {
    auto& info = *model.mutable_graph()->add_input();
    info.set_name(name);
    auto& type = *info.mutable_type()->mutable_tensor_type();
    type.set_elem_type(onnx::TensorProto::FLOAT);
    for (size_t i = 0; i < dims.size(); ++i) {
      auto& dim = *type.mutable_shape()->add_dim();
      if (dims[i] > 0)
        dim.set_dim_value(dims[i]);
      else
        dim.set_dim_param("d" + std::to_string(i));
    }
    return *this;
  }

  // Float values 0, 1, 2, ... in float_data.
  onnx::TensorProto& initializer(const std::string& name, const std::vector<int64_t>& dims) {
    auto& tensor = *model.mutable_graph()->add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(onnx::TensorProto::FLOAT);
    int64_t count = 1;
    for (const int64_t dim : dims) {
      tensor.add_dims(dim);
      count *= dim;
    }
    for (int64_t i = 0; i < count; ++i)
      tensor.add_float_data(static_cast<float>(i));
    return tensor;
  }

  TestModel& integers(const std::string& name, const std::vector<int64_t>& values) {
    auto& tensor = *model.mutable_graph()->add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(onnx::TensorProto::INT64);
    tensor.add_dims(static_cast<int64_t>(values.size()));
    for (const int64_t v : values)
      tensor.add_int64_data(v);
    return *this;
  }

  // One output, named `output`, which also names the node.
  onnx::NodeProto& node(const std::string& op, const std::vector<std::string>& inputs,
                        const std::string& output) {
    auto& n = *model.mutable_graph()->add_node();
    n.set_op_type(op);
    n.set_name(output);
    for (const std::string& name : inputs)
      n.add_input(name);
    n.add_output(output);
    return n;
  }

  std::string bytes() const { return model.SerializeAsString(); }

  onnx::ModelProto model;
};

inline void set_ints(onnx::NodeProto& node, const std::string& name,
                     const std::vector<int64_t>& values) {
  auto& a = *node.add_attribute();
  a.set_name(name);
  a.set_type(onnx::AttributeProto::INTS);
  for (const int64_t v : values)
    a.add_ints(v);
}

inline void set_int(onnx::NodeProto& node, const std::string& name, int64_t value) {
  auto& a = *node.add_attribute();
  a.set_name(name);
  a.set_type(onnx::AttributeProto::INT);
  a.set_i(value);
}

inline void set_string(onnx::NodeProto& node, const std::string& name, const std::string& value) {
  auto& a = *node.add_attribute();
  a.set_name(name);
  a.set_type(onnx::AttributeProto::STRING);
  a.set_s(value);
}

}  // namespace convoy::cli
