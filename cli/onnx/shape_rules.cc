// Output shapes of the operators that stand between Convs, one row of a table each.
#include "onnx/shape_rules.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "onnx/attributes.h"
#include "onnx/shape_op.h"

namespace convoy::cli {
namespace {

Shapes same(const ShapeOp& op) {
  if (op.shape(0) == nullptr) return {};
  return {*op.shape(0)};
}

Shapes elementwise(const ShapeOp& op) {
  Sizes y;
  for (size_t i = 0; i < op.inputs.size(); ++i) {
    if (op.shape(i) == nullptr) return {};
    std::optional<Sizes> wider = broadcast(y, *op.shape(i));
    if (!wider) return {};
    y = *std::move(wider);
  }
  return {y};
}

struct Row {
  std::string_view op;
  ShapeRule rule;
  bool changed_after_17 = false;
};

constexpr Row kRows[] = {
    {"Conv", conv_rule},
    {"MaxPool", pool_rule},
    {"AveragePool", pool_rule, true},
    {"LpPool", pool_rule, true},
    {"GlobalAveragePool", global_pool_rule},
    {"GlobalMaxPool", global_pool_rule},
    {"GlobalLpPool", global_pool_rule},
    {"Resize", resize_rule, true},
    {"Upsample", resize_rule},
    {"Pad", pad_rule, true},
    {"Slice", slice_rule},
    {"Concat", concat_rule},
    {"Gather", gather_rule},
    {"Split", split_rule, true},
    {"MatMul", mat_mul_rule},
    {"Transpose", transpose_rule},
    {"Flatten", flatten_rule},
    {"Reshape", reshape_rule},
    {"Squeeze", squeeze_rule},
    {"Unsqueeze", unsqueeze_rule},
    {"Shape", shape_rule},
    {"ReduceMean", reduce_rule, true},
    {"ReduceMax", reduce_rule, true},
    {"ReduceMin", reduce_rule, true},
    {"ReduceSum", reduce_rule},
    {"ReduceL1", reduce_rule, true},
    {"ReduceL2", reduce_rule, true},
    {"ReduceProd", reduce_rule, true},
    {"ReduceSumSquare", reduce_rule, true},
    {"ReduceLogSum", reduce_rule, true},
    {"ReduceLogSumExp", reduce_rule, true},
};

// The output has the shape of the first input.
constexpr std::string_view kSame[] = {"Abs",
                                      "Acos",
                                      "Acosh",
                                      "Asin",
                                      "Asinh",
                                      "Atan",
                                      "Atanh",
                                      "BatchNormalization",
                                      "BitwiseNot",
                                      "Cast",
                                      "CastLike",
                                      "Ceil",
                                      "Celu",
                                      "Clip",
                                      "Cos",
                                      "Cosh",
                                      "CumSum",
                                      "DequantizeLinear",
                                      "Dropout",
                                      "Elu",
                                      "Erf",
                                      "Exp",
                                      "Floor",
                                      "Gelu",
                                      "GroupNormalization",
                                      "HardSigmoid",
                                      "HardSwish",
                                      "Hardmax",
                                      "Identity",
                                      "InstanceNormalization",
                                      "IsInf",
                                      "IsNaN",
                                      "LRN",
                                      "LayerNormalization",
                                      "LeakyRelu",
                                      "Log",
                                      "LogSoftmax",
                                      "LpNormalization",
                                      "MeanVarianceNormalization",
                                      "Mish",
                                      "Neg",
                                      "Not",
                                      "QuantizeLinear",
                                      "QuickGelu",
                                      "RMSNormalization",
                                      "Reciprocal",
                                      "Relu",
                                      "Round",
                                      "Selu",
                                      "Shrink",
                                      "Sigmoid",
                                      "Sign",
                                      "Silu",
                                      "SimplifiedLayerNormalization",
                                      "Sin",
                                      "Sinh",
                                      "Softmax",
                                      "Softplus",
                                      "Softsign",
                                      "Sqrt",
                                      "Swish",
                                      "Tan",
                                      "Tanh",
                                      "ThresholdedRelu",
                                      "Trilu"};

// The output has the broadcast shape of all inputs.
constexpr std::string_view kElementwise[] = {
    "Add",        "And",         "BitShift", "BitwiseAnd", "BitwiseOr",
    "BitwiseXor", "Div",         "Equal",    "Greater",    "GreaterOrEqual",
    "Less",       "LessOrEqual", "Max",      "Mean",       "Min",
    "Mod",        "Mul",         "Or",       "PRelu",      "Pow",
    "Sub",        "Sum",         "Where",    "Xor"};

const std::unordered_map<std::string_view, Row>& table() {
  static const auto* rows = [] {
    auto* t = new std::unordered_map<std::string_view, Row>;
    for (const Row& row : kRows)
      t->emplace(row.op, row);
    for (const std::string_view op : kSame)
      t->emplace(op, Row{op, same});
    for (const std::string_view op : kElementwise)
      t->emplace(op, Row{op, elementwise});
    return t;
  }();
  return *rows;
}

bool sane(const Sizes& sizes) {
  return sizes.size() <= kMostAxes && std::all_of(sizes.begin(), sizes.end(), [](int64_t v) {
           return v >= 0 && v <= kMostExtent;
         });
}

bool apply(Graph& graph, const Node& node) {
  const auto row = table().find(node.proto->op_type());
  if (row == table().end()) return false;
  ShapeOp op{*node.proto, {}, graph.opset, node.outputs.size()};
  for (const int id : node.inputs)
    op.inputs.push_back(id < 0 ? nullptr : &graph.values[static_cast<size_t>(id)]);
  bool learned = false;
  const Shapes shapes = row->second.rule(op);
  for (size_t i = 0; i < std::min(shapes.size(), node.outputs.size()); ++i) {
    Value& value = graph.values[static_cast<size_t>(node.outputs[i])];
    if (value.shape || !sane(shapes[i])) continue;
    value.shape = shapes[i];
    learned = true;
  }
  if (node.outputs.empty()) return learned;
  Value& first = graph.values[static_cast<size_t>(node.outputs[0])];
  if (first.ints) return learned;
  first.ints = fold_integers(op);
  if (first.ints && first.ints->size() > 64) first.ints.reset();
  return learned || first.ints.has_value();
}

}  // namespace

bool propagate_shapes(Graph& graph) {
  bool learned = false;
  for (const Node& node : graph.nodes)
    learned = apply(graph, node) || learned;
  return learned;
}

bool changed_after_opset_17(const std::string& op) {
  const auto row = table().find(op);
  return row != table().end() && row->second.changed_after_17;
}

}  // namespace convoy::cli
