// What a shape rule sees of its node, and the shape arithmetic that rules share.
#pragma once

#include "onnx/graph.h"

namespace convoy::cli {

struct ShapeOp {
  const onnx::NodeProto& node;
  std::vector<const Value*> inputs;  // null: left out
  int64_t opset;
  size_t outputs;

  // Null where the operand is absent or unknown.
  const Sizes* shape(size_t i) const { return has(i) ? known(inputs[i]->shape) : nullptr; }
  const std::vector<int64_t>* ints(size_t i) const {
    return has(i) ? known(inputs[i]->ints) : nullptr;
  }
  const std::vector<double>* reals(size_t i) const {
    return has(i) ? known(inputs[i]->reals) : nullptr;
  }
  bool has(size_t i) const { return i < inputs.size() && inputs[i] != nullptr; }

 private:
  template <class T>
  static const T* known(const std::optional<T>& value) {
    return value ? &*value : nullptr;
  }
};

// One shape per output; empty where the operands do not tell.
using Shapes = std::vector<Sizes>;
using ShapeRule = Shapes (*)(const ShapeOp&);

// An axis of a tensor of `rank`, negative ones counted from the end; nothing out of range.
std::optional<size_t> axis_of(int64_t axis, size_t rank);

// Operands that moved from an attribute to an input over the opsets: axes, pads, split.
// An empty list where the node has neither; nothing where the input is not a known constant.
std::optional<std::vector<int64_t>> list_operand(const ShapeOp& op, const char* attribute,
                                                 size_t input);

// Which axes `list` names, by position; nothing where one is out of range.
std::optional<std::vector<bool>> axis_mask(const std::vector<int64_t>& list, size_t rank);

// NumPy's broadcasting; nothing where the extents clash.
std::optional<Sizes> broadcast(const Sizes& a, const Sizes& b);

// window_rules.cc
Shapes conv_rule(const ShapeOp& op);
Shapes pool_rule(const ShapeOp& op);
Shapes global_pool_rule(const ShapeOp& op);
Shapes resize_rule(const ShapeOp& op);
Shapes pad_rule(const ShapeOp& op);
Shapes slice_rule(const ShapeOp& op);

// axis_rules.cc
Shapes concat_rule(const ShapeOp& op);
Shapes gather_rule(const ShapeOp& op);
Shapes split_rule(const ShapeOp& op);
Shapes mat_mul_rule(const ShapeOp& op);
Shapes transpose_rule(const ShapeOp& op);
Shapes flatten_rule(const ShapeOp& op);
Shapes reshape_rule(const ShapeOp& op);
Shapes squeeze_rule(const ShapeOp& op);
Shapes unsqueeze_rule(const ShapeOp& op);
Shapes reduce_rule(const ShapeOp& op);
Shapes shape_rule(const ShapeOp& op);

// The integers that Shape, Gather, Concat and the like compute from known ones.
std::optional<std::vector<int64_t>> fold_integers(const ShapeOp& op);

}  // namespace convoy::cli
