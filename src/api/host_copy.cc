// Moves the span of a view in one piece: many small copies would cost a microsecond each.
#include "api/host_copy.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <utility>

namespace convoy {
namespace {

size_t span_bytes(const Span& span, DType dtype) {
  return static_cast<size_t>(span.elements) * static_cast<size_t>(size_of(dtype));
}

std::byte* lowest(const TensorView& view, const Span& span) {
  return static_cast<std::byte*>(view.data) + span.low * size_of(view.dtype);
}

}  // namespace

Span span_of(const TensorView& view) {
  Span span;
  int64_t high = 0;
  std::array<std::pair<int64_t, int64_t>, kMaxRank> axes;  // stride without its sign, size
  int count = 0;
  for (int i = 0; i < view.rank; ++i) {
    if (view.sizes[i] == 1) continue;
    const int64_t reach = (view.sizes[i] - 1) * view.strides[i];
    (reach < 0 ? span.low : high) += reach;
    axes[static_cast<size_t>(count++)] = {std::abs(view.strides[i]), view.sizes[i]};
  }
  span.elements = high - span.low + 1;
  std::sort(axes.begin(), axes.begin() + count);
  int64_t next = 1;
  span.dense = true;
  for (int i = 0; i < count; ++i) {
    const auto [stride, size] = axes[static_cast<size_t>(i)];
    span.dense = span.dense && stride == next;
    next *= size;
  }
  return span;
}

Device holder_of(const TensorView& view) {
  return Device(DeviceInfo{.id = view.device});
}

Result<HostCopy> to_host(const TensorView& view, Fill fill) {
  HostCopy copy{.view = view};
  if (view.device.backend == Backend::kCpu || view.elements() == 0) return copy;
  const Span span = span_of(view);
  Result<Buffer> buffer = Buffer::allocate(Device(DeviceInfo{}), span_bytes(span, view.dtype));
  if (!buffer) return buffer.status();
  copy.buffer = *std::move(buffer);
  copy.view.device = {};
  copy.view.data = static_cast<std::byte*>(copy.buffer.data()) - span.low * size_of(view.dtype);
  if (fill == Fill::kLeave && span.dense) return copy;
  Status s =
      copy_bytes(holder_of(view), copy.buffer.data(), lowest(view, span), copy.buffer.bytes());
  if (!s.ok()) return s;
  return copy;
}

Status to_device(const HostCopy& copy, const TensorView& original) {
  if (copy.buffer.data() == nullptr) return {};
  return copy_bytes(holder_of(original), lowest(original, span_of(original)), copy.buffer.data(),
                    copy.buffer.bytes());
}

}  // namespace convoy
