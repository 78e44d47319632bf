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

Shapes concat(const ShapeOp& op) {
  if (op.shape(0) == nullptr) return {};
  Sizes y = *op.shape(0);
  const auto axis = axis_of(int_attribute(op.node, "axis", 1), y.size());
  if (!axis) return {};
  for (size_t i = 1; i < op.inputs.size(); ++i) {
    const Sizes* x = op.shape(i);
    if (x == nullptr || x->size() != y.size()) return {};
    y[*axis] += std::min((*x)[*axis], 2 * kMostExtent - y[*axis]);
  }
  return {y};
}

Shapes split(const ShapeOp& op) {
  const Sizes* x = op.shape(0);
  const auto parts = list_operand(op, "split", 1);
  if (x == nullptr || !parts || op.outputs == 0) return {};
  const auto axis = axis_of(int_attribute(op.node, "axis", 0), x->size());
  if (!axis || (!parts->empty() && parts->size() != op.outputs)) return {};
  // Equal parts; since opset 18 the last one may be smaller.
  const auto count = static_cast<int64_t>(op.outputs);
  const int64_t part = ((*x)[*axis] + count - 1) / count;
  Shapes out(op.outputs, *x);
  int64_t left = (*x)[*axis];
  for (size_t i = 0; i < op.outputs; ++i) {
    out[i][*axis] = parts->empty() ? std::min(part, left) : (*parts)[i];
    left = std::max(int64_t{0}, left - part);
  }
  return out;
}

// Matrices of the last two axes, the axes before them broadcast.
Shapes mat_mul(const ShapeOp& op) {
  const Sizes *a = op.shape(0), *b = op.shape(1);
  if (a == nullptr || b == nullptr || a->size() < 2 || b->size() < 2) return {};
  std::optional<Sizes> y = broadcast({a->begin(), a->end() - 2}, {b->begin(), b->end() - 2});
  if (!y) return {};
  y->push_back(a->end()[-2]);
  y->push_back(b->back());
  return {*y};
}

Shapes transpose(const ShapeOp& op) {
  if (op.shape(0) == nullptr) return {};
  const Sizes& x = *op.shape(0);
  const Sizes perm = ints_attribute(op.node, "perm");
  if (perm.empty()) return {Sizes(x.rbegin(), x.rend())};
  if (perm.size() != x.size()) return {};
  Sizes y;
  for (const int64_t entry : perm) {
    const auto axis = axis_of(entry, x.size());
    if (!axis) return {};
    y.push_back(x[*axis]);
  }
  return {y};
}

// Nothing where the product leaves [0, kMostExtent].
std::optional<int64_t> product(const Sizes& x, size_t begin, size_t end) {
  int64_t out = 1;
  for (size_t i = begin; i < end; ++i) {
    if (__builtin_mul_overflow(out, x[i], &out)) return std::nullopt;
  }
  return out;
}

Shapes flatten_axes(const ShapeOp& op) {
  const Sizes* x = op.shape(0);
  if (x == nullptr) return {};
  const int64_t axis = int_attribute(op.node, "axis", 1);
  const auto rank = static_cast<int64_t>(x->size());
  if (axis < -rank || axis > rank) return {};
  const auto at = static_cast<size_t>(axis < 0 ? axis + rank : axis);
  const auto rows = product(*x, 0, at), columns = product(*x, at, x->size());
  if (!rows || !columns) return {};
  return {{*rows, *columns}};
}

Shapes reshape(const ShapeOp& op) {
  const Sizes* x = op.shape(0);
  const auto target = list_operand(op, "shape", 1);
  if (x == nullptr || !target || target->size() > kMostAxes) return {};
  const bool copy_zero = int_attribute(op.node, "allowzero", 0) == 0;
  Sizes y = *target;
  size_t open = y.size();
  for (size_t i = 0; i < y.size(); ++i) {
    if (y[i] == 0 && copy_zero) {
      if (i >= x->size()) return {};
      y[i] = (*x)[i];
    } else if (y[i] == -1) {
      if (open != y.size()) return {};
      open = i;
      y[i] = 1;
    }
  }
  const auto given = product(*x, 0, x->size()), named = product(y, 0, y.size());
  if (!given || !named || *named < 1 || *given % *named != 0) return {};
  if (open != y.size())
    y[open] = *given / *named;
  else if (*given != *named)
    return {};
  return {y};
}

Shapes squeeze(const ShapeOp& op) {
  const Sizes* x = op.shape(0);
  const auto axes = list_operand(op, "axes", 1);
  if (x == nullptr || !axes) return {};
  const auto mask = axis_mask(*axes, x->size());
  if (!mask) return {};
  Sizes y;
  for (size_t i = 0; i < x->size(); ++i) {
    const bool drop = axes->empty() ? (*x)[i] == 1 : (*mask)[i];
    if (!drop) y.push_back((*x)[i]);
  }
  return {y};
}

Shapes unsqueeze(const ShapeOp& op) {
  const Sizes* x = op.shape(0);
  const auto axes = list_operand(op, "axes", 1);
  if (x == nullptr || !axes || axes->size() > kMostAxes) return {};
  const auto mask = axis_mask(*axes, x->size() + axes->size());
  if (!mask) return {};
  if (std::count(mask->begin(), mask->end(), true) != static_cast<long>(axes->size())) return {};
  Sizes y;
  auto next = x->begin();
  for (const bool added : *mask)
    y.push_back(added ? 1 : *next++);
  return {y};
}

Shapes reduce(const ShapeOp& op) {
  const Sizes* x = op.shape(0);
  const auto axes = list_operand(op, "axes", 1);
  if (x == nullptr || !axes) return {};
  auto mask = axis_mask(*axes, x->size());
  if (!mask) return {};
  if (axes->empty())
    mask->assign(x->size(), int_attribute(op.node, "noop_with_empty_axes", 0) == 0);
  const bool keep = int_attribute(op.node, "keepdims", 1) != 0;
  Sizes y;
  for (size_t i = 0; i < x->size(); ++i) {
    if (!(*mask)[i])
      y.push_back((*x)[i]);
    else if (keep)
      y.push_back(1);
  }
  return {y};
}

Shapes shape_of(const ShapeOp& op) {
  if (const auto ints = fold_integers(op)) return {{static_cast<int64_t>(ints->size())}};
  return {};
}

struct Row {
  std::string_view op;
  ShapeRule rule;
  bool changed_after_17 = false;
};

constexpr Row kRows[] = {
    {"Conv", window_rule_conv},
    {"MaxPool", window_rule_pool},
    {"AveragePool", window_rule_pool, true},
    {"LpPool", window_rule_pool, true},
    {"GlobalAveragePool", window_rule_global_pool},
    {"GlobalMaxPool", window_rule_global_pool},
    {"GlobalLpPool", window_rule_global_pool},
    {"Resize", resize_rule, true},
    {"Upsample", resize_rule},
    {"Pad", pad_rule, true},
    {"Slice", slice_rule},
    {"Concat", concat},
    {"Split", split, true},
    {"MatMul", mat_mul},
    {"Transpose", transpose},
    {"Flatten", flatten_axes},
    {"Reshape", reshape},
    {"Squeeze", squeeze},
    {"Unsqueeze", unsqueeze},
    {"Shape", shape_of},
    {"ReduceMean", reduce, true},
    {"ReduceMax", reduce, true},
    {"ReduceMin", reduce, true},
    {"ReduceSum", reduce},
    {"ReduceL1", reduce, true},
    {"ReduceL2", reduce, true},
    {"ReduceProd", reduce, true},
    {"ReduceSumSquare", reduce, true},
    {"ReduceLogSum", reduce, true},
    {"ReduceLogSumExp", reduce, true},
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
