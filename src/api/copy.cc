// Element-wise copies between any strides, dtypes and devices.
#include <convoy/convoy.h>

#include "api/host_copy.h"
#include "base/str.h"
#include "kernel/operand.h"
#include "kernel/reference/sums.h"

namespace convoy {
namespace {

template <class From, class To>
To convert(From v) {
  if constexpr (std::is_same_v<From, To>) {
    return v;  // NaN payloads stay
  } else {
    return round_to<To>(to_f64(v));
  }
}

template <class From, class To>
void copy_axis(const TensorView& from, const TensorView& to, int axis, int64_t a, int64_t b) {
  for (int64_t i = 0; i < from.sizes[axis]; ++i) {
    const int64_t ai = a + i * from.strides[axis], bi = b + i * to.strides[axis];
    if (axis + 1 < from.rank) {
      copy_axis<From, To>(from, to, axis + 1, ai, bi);
    } else {
      static_cast<To*>(to.data)[bi] = convert<From, To>(static_cast<const From*>(from.data)[ai]);
    }
  }
}

void copy_on_host(const TensorView& from, const TensorView& to) {
  with_type(from.dtype, [&](auto* f) {
    with_type(to.dtype, [&](auto* t) {
      copy_axis<std::remove_pointer_t<decltype(f)>, std::remove_pointer_t<decltype(t)>>(from, to, 0,
                                                                                        0, 0);
    });
  });
}

bool on_cpu(const TensorView& view) {
  return view.device.backend == Backend::kCpu;
}

// The same gapless order on both sides, and one device that reaches both: the bytes as they are.
bool is_plain(const TensorView& from, const TensorView& to) {
  if (from.dtype != to.dtype || !span_of(from).dense) return false;
  if (!on_cpu(from) && !on_cpu(to) && from.device != to.device) return false;
  for (int i = 0; i < from.rank; ++i) {
    if (from.sizes[i] != 1 && from.strides[i] != to.strides[i]) return false;
  }
  return true;
}

Status copy_plain(const TensorView& from, const TensorView& to) {
  const Span span = span_of(from);
  const int64_t size = size_of(from.dtype), offset = span.low * size;
  return copy_bytes(holder_of(on_cpu(from) ? to : from), static_cast<std::byte*>(to.data) + offset,
                    static_cast<const std::byte*>(from.data) + offset,
                    static_cast<size_t>(span.elements * size));
}

}  // namespace

Status copy(const TensorView& from, const TensorView& to) {
  if (from.rank != to.rank || from.sizes != to.sizes) {
    return invalid(str("copy: shape ",
                       shape_text({from.sizes.data(), static_cast<size_t>(from.rank)}),
                       " must equal ", shape_text({to.sizes.data(), static_cast<size_t>(to.rank)}),
                       "; pass views of one shape"));
  }
  if (from.elements() == 0) return {};
  if (on_cpu(from) && on_cpu(to)) {
    copy_on_host(from, to);
    return {};
  }
  if (is_plain(from, to)) return copy_plain(from, to);
  const Result<HostCopy> source = to_host(from);
  if (!source) return source.status();
  const Result<HostCopy> target = to_host(to, Fill::kLeave);
  if (!target) return target.status();
  copy_on_host(source->view, target->view);
  return to_device(*target, to);
}

Result<Tensor> allocate(const Device& device, DType dtype, std::span<const int64_t> sizes,
                        Layout layout) {
  size_t elements = 1;
  for (const int64_t size : sizes)
    elements *= static_cast<size_t>(size);
  Result<Buffer> buffer = Buffer::allocate(device, elements * static_cast<size_t>(size_of(dtype)));
  if (!buffer) return buffer.status();
  Tensor tensor{*std::move(buffer), {}};
  tensor.view = packed(tensor.buffer.data(), dtype, sizes, layout, device.info().id);
  return tensor;
}

}  // namespace convoy
