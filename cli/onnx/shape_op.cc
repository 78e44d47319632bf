// Shape arithmetic that rules share, and the integers that shape computations carry.
#include "onnx/shape_op.h"

#include <algorithm>

#include "onnx/attributes.h"

namespace convoy::cli {

std::optional<size_t> axis_of(int64_t axis, size_t rank) {
  const auto r = static_cast<int64_t>(rank);
  if (axis < -r || axis >= r) return std::nullopt;
  return static_cast<size_t>(axis < 0 ? axis + r : axis);
}

std::optional<std::vector<int64_t>> list_operand(const ShapeOp& op, const char* attribute,
                                                 size_t input) {
  if (find_attribute(op.node, attribute) != nullptr) return ints_attribute(op.node, attribute);
  if (!op.has(input)) return std::vector<int64_t>{};
  const std::vector<int64_t>* values = op.ints(input);
  if (values == nullptr) return std::nullopt;
  return *values;
}

std::optional<std::vector<bool>> axis_mask(const std::vector<int64_t>& list, size_t rank) {
  std::vector<bool> mask(rank, false);
  for (const int64_t entry : list) {
    const std::optional<size_t> axis = axis_of(entry, rank);
    if (!axis) return std::nullopt;
    mask[*axis] = true;
  }
  return mask;
}

std::optional<Sizes> broadcast(const Sizes& a, const Sizes& b) {
  const Sizes& longer = a.size() >= b.size() ? a : b;
  const Sizes& shorter = a.size() >= b.size() ? b : a;
  Sizes out = longer;
  const size_t skip = longer.size() - shorter.size();
  for (size_t i = 0; i < shorter.size(); ++i) {
    int64_t& extent = out[skip + i];
    if (extent != shorter[i] && extent != 1 && shorter[i] != 1) return std::nullopt;
    if (extent == 1) extent = shorter[i];
  }
  return out;
}

namespace {

using Ints = std::vector<int64_t>;

std::optional<Ints> fold_gather(const ShapeOp& op) {
  const Ints *data = op.ints(0), *indices = op.ints(1);
  if (data == nullptr || indices == nullptr || int_attribute(op.node, "axis", 0) != 0) return {};
  Ints out;
  for (const int64_t index : *indices) {
    const std::optional<size_t> at = axis_of(index, data->size());
    if (!at) return {};
    out.push_back((*data)[*at]);
  }
  return out;
}

std::optional<Ints> fold_concat(const ShapeOp& op) {
  Ints out;
  for (size_t i = 0; i < op.inputs.size(); ++i) {
    if (op.ints(i) == nullptr || out.size() > 64) return {};
    out.insert(out.end(), op.ints(i)->begin(), op.ints(i)->end());
  }
  return out;
}

// Of one axis with step 1, the only form that shape computations use.
std::optional<Ints> fold_slice(const ShapeOp& op) {
  const Ints* data = op.ints(0);
  const auto starts = list_operand(op, "starts", 1), ends = list_operand(op, "ends", 2);
  const auto axes = list_operand(op, "axes", 3), steps = list_operand(op, "steps", 4);
  if (data == nullptr || !starts || !ends || !axes || !steps) return {};
  if (starts->size() != 1 || ends->size() != 1) return {};
  if ((!axes->empty() && *axes != Ints{0}) || (!steps->empty() && *steps != Ints{1})) return {};
  const auto n = static_cast<int64_t>(data->size());
  const auto place = [n](int64_t v) { return std::clamp(v < 0 ? v + n : v, int64_t{0}, n); };
  const int64_t begin = place(starts->front()), end = std::max(begin, place(ends->front()));
  return Ints(data->begin() + begin, data->begin() + end);
}

std::optional<int64_t> compute(const std::string& op, int64_t a, int64_t b) {
  int64_t out = 0;
  bool wraps = false;
  if (op == "Add") {
    wraps = __builtin_add_overflow(a, b, &out);
  } else if (op == "Sub") {
    wraps = __builtin_sub_overflow(a, b, &out);
  } else if (op == "Mul") {
    wraps = __builtin_mul_overflow(a, b, &out);
  } else {
    if (b == 0 || b == -1) return {};
    out = a / b;
  }
  if (wraps) return {};
  return out;
}

std::optional<Ints> fold_arithmetic(const ShapeOp& op) {
  const Ints *a = op.ints(0), *b = op.ints(1);
  if (a == nullptr || b == nullptr || a->empty() || b->empty()) return {};
  if (a->size() != b->size() && a->size() != 1 && b->size() != 1) return {};
  Ints out;
  for (size_t i = 0; i < std::max(a->size(), b->size()); ++i) {
    const auto v = compute(op.node.op_type(), a->size() == 1 ? a->front() : (*a)[i],
                           b->size() == 1 ? b->front() : (*b)[i]);
    if (!v) return {};
    out.push_back(*v);
  }
  return out;
}

std::optional<Ints> fold_shape(const ShapeOp& op) {
  const Sizes* x = op.shape(0);
  if (x == nullptr) return {};
  const auto n = static_cast<int64_t>(x->size());
  const auto place = [n](int64_t v) { return std::clamp(v < 0 ? v + n : v, int64_t{0}, n); };
  const int64_t begin = place(int_attribute(op.node, "start", 0));
  const int64_t end = std::max(begin, place(int_attribute(op.node, "end", n)));
  return Ints(x->begin() + begin, x->begin() + end);
}

std::optional<Ints> fold_same(const ShapeOp& op) {
  if (op.ints(0) == nullptr) return {};
  return *op.ints(0);
}

}  // namespace

std::optional<std::vector<int64_t>> fold_integers(const ShapeOp& op) {
  struct Row {
    const char* op;
    std::optional<Ints> (*fold)(const ShapeOp&);
  };
  static constexpr Row kRows[] = {
      {"Shape", fold_shape},    {"Gather", fold_gather},  {"Concat", fold_concat},
      {"Slice", fold_slice},    {"Add", fold_arithmetic}, {"Sub", fold_arithmetic},
      {"Mul", fold_arithmetic}, {"Div", fold_arithmetic}, {"Cast", fold_same},
      {"Identity", fold_same},  {"Squeeze", fold_same},   {"Unsqueeze", fold_same},
      {"Reshape", fold_same},
  };
  for (const Row& row : kRows) {
    if (op.node.op_type() == row.op) return row.fold(op);
  }
  return std::nullopt;
}

}  // namespace convoy::cli
