// Shape rules of Conv, pooling, Resize, Pad and Slice: the operators with geometry.
#include <algorithm>
#include <cmath>

#include "onnx/attributes.h"
#include "onnx/conv_node.h"
#include "onnx/shape_op.h"
#include "onnx/window.h"

namespace convoy::cli {
namespace {

// Nothing where an extent leaves [0, kMostExtent].
std::optional<int64_t> extent(double value) {
  if (!(value >= 0) || value > static_cast<double>(kMostExtent)) return std::nullopt;
  return static_cast<int64_t>(value);
}

// Positions of a window; with ceil_mode one may start in the input and end outside of it.
std::optional<int64_t> positions(const Window& w, size_t i, int64_t length, int64_t filter,
                                 bool ceil_mode) {
  __extension__ using Wide = __int128;
  if (w.stride[i] < 1 || w.dilation[i] < 1 || filter < 1) return std::nullopt;
  const Wide padded = Wide{length} + w.pad_lo[i] + w.pad_hi[i];
  const Wide room = padded - (Wide{w.dilation[i]} * (filter - 1) + 1);
  if (room < 0 || padded > kMostExtent) return std::nullopt;
  Wide out = (room + (ceil_mode ? w.stride[i] - 1 : 0)) / w.stride[i] + 1;
  if (ceil_mode && (out - 1) * w.stride[i] >= Wide{length} + w.pad_lo[i]) --out;
  return static_cast<int64_t>(out);
}

}  // namespace

Shapes conv_rule(const ShapeOp& op) {
  if (op.shape(0) == nullptr || op.shape(1) == nullptr) return {};
  Result<ConvProblem> p = conv_problem(op.node, {*op.shape(0), *op.shape(1)});
  if (!p) return {};
  const Shape y = y_shape(*p);
  return {Sizes(y.span().begin(), y.span().end())};
}

Shapes pool_rule(const ShapeOp& op) {
  const Sizes* x = op.shape(0);
  const Sizes kernel = ints_attribute(op.node, "kernel_shape");
  if (x == nullptr || x->size() < 3 || kernel.size() != x->size() - 2) return {};
  const Sizes spatial(x->begin() + 2, x->end());
  Result<Window> window = window_of(op.node, spatial, kernel);
  if (!window) return {};
  Sizes y = *x;
  for (size_t i = 0; i < kernel.size(); ++i) {
    const auto out =
        positions(*window, i, spatial[i], kernel[i], int_attribute(op.node, "ceil_mode", 0) != 0);
    if (!out) return {};
    y[2 + i] = *out;
  }
  return Shapes(op.outputs, y);
}

Shapes global_pool_rule(const ShapeOp& op) {
  if (op.shape(0) == nullptr || op.shape(0)->size() < 2) return {};
  Sizes y = *op.shape(0);
  std::fill(y.begin() + 2, y.end(), 1);
  return {y};
}

// Resize: x, roi, scales, sizes since opset 11; x, scales before, as Upsample.
Shapes resize_rule(const ShapeOp& op) {
  const Sizes* x = op.shape(0);
  const bool with_roi = op.node.op_type() == "Resize" && op.opset >= 11;
  const size_t at = with_roi ? 2 : 1;
  if (x == nullptr || string_attribute(op.node, "keep_aspect_ratio_policy", "stretch") != "stretch")
    return {};
  Sizes axes = ints_attribute(op.node, "axes");
  if (axes.empty()) {
    for (size_t i = 0; i < x->size(); ++i)
      axes.push_back(static_cast<int64_t>(i));
  }
  const std::vector<int64_t>* sizes = with_roi ? op.ints(3) : nullptr;
  std::vector<double> scales;
  if (const auto* a = find_attribute(op.node, "scales")) {
    scales.assign(a->floats().begin(), a->floats().end());
  } else if (op.reals(at) != nullptr) {
    scales = *op.reals(at);
  }
  if ((sizes != nullptr ? sizes->size() : scales.size()) != axes.size()) return {};
  Sizes y = *x;
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto axis = axis_of(axes[i], x->size());
    if (!axis) return {};
    // The product in f32, as runtimes round it.
    const auto scaled = [&] {
      return std::floor(static_cast<float>((*x)[*axis]) * static_cast<float>(scales[i]));
    };
    const auto out = extent(sizes != nullptr ? static_cast<double>((*sizes)[i]) : scaled());
    if (!out) return {};
    y[*axis] = *out;
  }
  return {y};
}

Shapes pad_rule(const ShapeOp& op) {
  const Sizes* x = op.shape(0);
  const auto pads = list_operand(op, "pads", 1), axes = list_operand(op, "axes", 3);
  if (x == nullptr || !pads || !axes) return {};
  const size_t count = axes->empty() ? x->size() : axes->size();
  if (pads->size() != 2 * count) return {};
  Sizes y = *x;
  for (size_t i = 0; i < count; ++i) {
    const auto axis = axis_of(axes->empty() ? static_cast<int64_t>(i) : (*axes)[i], x->size());
    if (!axis) return {};
    const auto out = extent(static_cast<double>((*x)[*axis]) + static_cast<double>((*pads)[i]) +
                            static_cast<double>((*pads)[count + i]));
    if (!out) return {};
    y[*axis] = *out;
  }
  return {y};
}

Shapes slice_rule(const ShapeOp& op) {
  const Sizes* x = op.shape(0);
  const auto starts = list_operand(op, "starts", 1), ends = list_operand(op, "ends", 2);
  const auto axes = list_operand(op, "axes", 3), steps = list_operand(op, "steps", 4);
  if (x == nullptr || !starts || !ends || !axes || !steps) return {};
  const size_t count = starts->size();
  if (ends->size() != count || (!axes->empty() && axes->size() != count) ||
      (!steps->empty() && steps->size() != count)) {
    return {};
  }
  Sizes y = *x;
  for (size_t i = 0; i < count; ++i) {
    const auto axis = axis_of(axes->empty() ? static_cast<int64_t>(i) : (*axes)[i], x->size());
    const int64_t step = steps->empty() ? 1 : (*steps)[i];
    if (!axis || step < 1) return {};
    const int64_t n = (*x)[*axis];
    const auto place = [n](int64_t v) { return std::clamp(v < 0 ? v + n : v, int64_t{0}, n); };
    const int64_t length = std::max(int64_t{0}, place((*ends)[i]) - place((*starts)[i]));
    y[*axis] = length == 0 ? 0 : (length - 1) / step + 1;
  }
  return {y};
}

}  // namespace convoy::cli
