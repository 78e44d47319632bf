// Operand checks: every mismatch is named with what was given and what was expected.
#include "plan/operands.h"

#include <algorithm>

#include "base/str.h"
#include "plan/overlap.h"

namespace convoy {
namespace {

struct Expected {
  const char* name = nullptr;
  const TensorView* view = nullptr;
  Shape shape;
  DType dtype = DType::kF32;
  bool required = false;
};

Status check_one(const Expected& e, const DeviceInfo& device) {
  const TensorView& v = *e.view;
  if (v.empty()) {
    if (!e.required) return {};
    return invalid(str("plan run: ", e.name, " is missing; pass a tensor of shape ",
                       shape_text(e.shape.span())));
  }
  const std::span<const int64_t> sizes(v.sizes.data(), static_cast<size_t>(v.rank));
  if (v.rank != e.shape.rank || !std::equal(sizes.begin(), sizes.end(), e.shape.span().begin())) {
    return invalid(str("plan run: ", e.name, " has shape ", shape_text(sizes), ", expected ",
                       shape_text(e.shape.span()), "; pass that shape or plan another problem"));
  }
  if (v.dtype != e.dtype) {
    return invalid(str("plan run: ", e.name, " is ", name(v.dtype), ", expected ", name(e.dtype),
                       " as the problem says; convert it or plan another problem"));
  }
  if (v.device != device.id) {
    return invalid(str("plan run: ", e.name, " lies on another device than the plan's ",
                       device.name, "; copy it there"));
  }
  if (v.data == nullptr && v.elements() > 0) {
    return invalid(str("plan run: ", e.name, " has a null pointer; pass its memory"));
  }
  const auto address = reinterpret_cast<uintptr_t>(v.data);
  if (address % static_cast<uintptr_t>(size_of(v.dtype)) != 0) {
    return invalid(str("plan run: ", e.name, " must be aligned to its elements of ",
                       size_of(v.dtype), " bytes; move it"));
  }
  return {};
}

}  // namespace

Status check_weights(const ConvProblem& p, const DeviceInfo& device, const TensorView& w) {
  return check_one({"w", &w, w_shape(p), p.dtype, true}, device);
}

Status check_operands(const ConvProblem& p, const DeviceInfo& device, const RunArgs& args) {
  const bool fprop = p.pass == Pass::kFprop, wgrad = p.pass == Pass::kWgrad;
  const DType bias = bias_dtype(p);
  std::array<Expected, 3> inputs, outputs;
  if (fprop) {
    inputs = {{{"x", &args.x, x_shape(p), p.dtype, true},
               {"w", &args.w, w_shape(p), p.dtype, args.packed == nullptr},
               {"bias", &args.bias, bias_shape(p), bias, p.bias != BiasType::kNone}}};
    outputs[0] = {"y", &args.y, y_shape(p), p.dtype, true};
  } else if (wgrad) {
    inputs = {
        {{"x", &args.x, x_shape(p), p.dtype, true}, {"dy", &args.dy, y_shape(p), p.dtype, true}}};
    outputs = {{{"dw", &args.dw, w_shape(p), p.dtype, args.db.empty()},
                {"db", &args.db, bias_shape(p), bias, false}}};
  } else {
    inputs = {
        {{"dy", &args.dy, y_shape(p), p.dtype, true}, {"w", &args.w, w_shape(p), p.dtype, true}}};
    outputs[0] = {"dx", &args.dx, x_shape(p), p.dtype, true};
  }
  if (fprop && p.bias == BiasType::kNone && !args.bias.empty()) {
    return invalid("plan run: bias was passed but the problem has none; add the token bias");
  }
  for (const auto& group : {inputs, outputs}) {
    for (const Expected& e : group) {
      if (e.view == nullptr) continue;
      if (Status s = check_one(e, device); !s.ok()) return s;
    }
  }
  for (const Expected& out : outputs) {
    if (out.view == nullptr || out.view->empty()) continue;
    if (self_overlaps(*out.view)) {
      return invalid(str("plan run: ", out.name,
                         " writes one element twice (stride 0 or "
                         "overlapping rows); pass a view of distinct elements"));
    }
    for (const Expected& in : inputs) {
      if (in.view == nullptr || in.view->empty() || !overlaps(*in.view, *out.view)) continue;
      return invalid(
          str("plan run: ", out.name, " overlaps ", in.name, "; pass an output of its own memory"));
    }
  }
  return {};
}

}  // namespace convoy
