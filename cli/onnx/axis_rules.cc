// Shape rules of the operators that move, join, split or drop axes.
#include <algorithm>

#include "onnx/attributes.h"
#include "onnx/shape_op.h"

namespace convoy::cli {
namespace {

// Nothing where the product leaves [0, kMostExtent].
std::optional<int64_t> product(const Sizes& x, size_t begin, size_t end) {
  int64_t out = 1;
  for (size_t i = begin; i < end; ++i) {
    if (__builtin_mul_overflow(out, x[i], &out)) return std::nullopt;
  }
  return out;
}

}  // namespace

Shapes concat_rule(const ShapeOp& op) {
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

// The gathered axis takes the shape of the indices.
Shapes gather_rule(const ShapeOp& op) {
  const Sizes *x = op.shape(0), *indices = op.shape(1);
  if (x == nullptr || indices == nullptr) return {};
  const auto axis = axis_of(int_attribute(op.node, "axis", 0), x->size());
  if (!axis) return {};
  const auto at = x->begin() + static_cast<long>(*axis);
  Sizes y(x->begin(), at);
  y.insert(y.end(), indices->begin(), indices->end());
  y.insert(y.end(), at + 1, x->end());
  return {y};
}

Shapes split_rule(const ShapeOp& op) {
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
Shapes mat_mul_rule(const ShapeOp& op) {
  const Sizes *a = op.shape(0), *b = op.shape(1);
  if (a == nullptr || b == nullptr || a->size() < 2 || b->size() < 2) return {};
  std::optional<Sizes> y = broadcast({a->begin(), a->end() - 2}, {b->begin(), b->end() - 2});
  if (!y) return {};
  y->push_back(a->end()[-2]);
  y->push_back(b->back());
  return {*y};
}

Shapes transpose_rule(const ShapeOp& op) {
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

Shapes flatten_rule(const ShapeOp& op) {
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

Shapes reshape_rule(const ShapeOp& op) {
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

Shapes squeeze_rule(const ShapeOp& op) {
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

Shapes unsqueeze_rule(const ShapeOp& op) {
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

Shapes reduce_rule(const ShapeOp& op) {
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

Shapes shape_rule(const ShapeOp& op) {
  if (const auto ints = fold_integers(op)) return {{static_cast<int64_t>(ints->size())}};
  return {};
}

}  // namespace convoy::cli
