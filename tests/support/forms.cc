// Random strided forms of a tensor.
#include "support/forms.h"

#include <utility>

namespace convoy::test {
namespace {

// Axes nested in any order, each with up to two elements of slack.
Form permuted_form(Random& r, const Shape& shape) {
  std::array<int, kMaxRank> order = {0, 1, 2, 3, 4};
  for (int i = shape.rank; --i > 0;)
    std::swap(order[i], order[static_cast<size_t>(r.between(0, i))]);
  Form form;
  int64_t stride = r.between(1, 2);
  for (int i = 0; i < shape.rank; ++i) {
    form.strides[order[i]] = stride;
    stride *= shape.sizes[order[i]] + r.between(0, 2);
  }
  return form;
}

}  // namespace

Form gapped_form(const Shape& shape, Layout layout) {
  Shape wide = shape;
  for (int axis = 1; axis < wide.rank; ++axis)
    wide.sizes[axis] += axis == 1 || axis == wide.rank - 1 ? 3 : 1;
  return packed_form(wide, layout);
}

Form random_form(Random& r, const Shape& shape, Layout layout, bool repeats) {
  Form form = packed_form(shape, layout);
  const double kind = r.unit();
  if (kind < 0.15) {
    form = packed_form(shape, layout == Layout::kNchw ? Layout::kNhwc : Layout::kNchw);
  } else if (kind < 0.45) {
    form = gapped_form(shape, layout);
  } else if (kind < 0.6) {
    form = permuted_form(r, shape);
  } else if (kind < 0.7 && repeats) {
    form.strides[static_cast<size_t>(r.between(0, shape.rank - 1))] = 0;
  }
  if (r.chance(0.3)) form.offset = r.between(1, 9);
  for (int axis = 0; axis < shape.rank; ++axis) {
    if (shape.sizes[axis] == 1 && r.chance(0.3)) form.strides[axis] = r.between(0, 1000);
  }
  return form;
}

}  // namespace convoy::test
