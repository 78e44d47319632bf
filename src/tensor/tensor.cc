// Packed views and shapes as text.
#include <convoy/tensor.h>

#include "base/str.h"

namespace convoy {

int64_t TensorView::elements() const {
  int64_t count = rank == 0 ? 0 : 1;
  for (int i = 0; i < rank; ++i)
    count *= sizes[i];
  return count;
}

TensorView packed(void* data, DType dtype, std::span<const int64_t> sizes, Layout layout,
                  DeviceId device) {
  TensorView view{.data = data, .dtype = dtype, .device = device};
  view.rank = static_cast<int>(sizes.size());
  int64_t stride = 1;
  const bool channels_last = layout == Layout::kNhwc && view.rank > 2;
  if (channels_last) {
    view.strides[1] = 1;
    stride = sizes[1];
  }
  for (int i = view.rank - 1; i >= 0; --i) {
    view.sizes[i] = sizes[i];
    if (channels_last && i == 1) continue;
    view.strides[i] = stride;
    stride *= sizes[i];
  }
  return view;
}

std::string shape_text(std::span<const int64_t> sizes) {
  std::string text;
  for (const int64_t size : sizes) {
    if (!text.empty()) text += 'x';
    text += str(size);
  }
  return text;
}

}  // namespace convoy
