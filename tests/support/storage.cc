// Guarded, poisoned storage of one tensor.
#include "support/storage.h"

#include <cstring>

#include "base/str.h"
#include "kernel/operand.h"
#include "kernel/reference/sums.h"

namespace convoy::test {
namespace {

constexpr int64_t kGuard = 128;  // elements before and after the view

}  // namespace

Form packed_form(const Shape& shape, Layout layout) {
  return {.strides = packed(nullptr, DType::kF32, shape.span(), layout).strides};
}

Storage::Storage(DType dtype, const Shape& shape, const Form& form) {
  int64_t span = shape.rank == 0 ? 0 : 1;
  for (int i = 0; i < shape.rank; ++i)
    span += shape.sizes[i] > 1 ? (shape.sizes[i] - 1) * form.strides[i] : 0;
  first_ = kGuard + form.offset;
  elements_ = first_ + span + kGuard;
  constexpr size_t kAlign = 64;
  memory_.resize(static_cast<size_t>(elements_ * size_of(dtype)) + kAlign);
  const auto address = reinterpret_cast<uintptr_t>(memory_.data());
  base_ = memory_.data() + (kAlign - address % kAlign) % kAlign;
  view_ = {.dtype = dtype, .rank = shape.rank, .sizes = shape.sizes, .strides = form.strides};
  view_.data = base_ + first_ * size_of(dtype);
  const uint32_t pattern = poison();
  for (int64_t i = 0; i < elements_; ++i)
    std::memcpy(base_ + i * size_of(dtype), &pattern, static_cast<size_t>(size_of(dtype)));
}

// Signalling NaNs: arithmetic quiets them, so only a copy of the poison has these bits.
uint32_t Storage::poison() const {
  if (view_.dtype == DType::kF16) return 0x7d5a;
  return view_.dtype == DType::kBf16 ? 0x7fa5 : 0x7fa5a5a5;
}

uint32_t Storage::bits(int64_t element) const {
  uint32_t value = 0;
  const int size = size_of(view_.dtype);
  std::memcpy(&value, base_ + element * size, static_cast<size_t>(size));
  return value;
}

template <class F>
void Storage::each(F&& f) const {
  const int64_t count = view_.elements();
  std::array<int64_t, kMaxRank> at = {};
  int64_t element = first_;
  for (int64_t i = 0; i < count; ++i) {
    f(i, element);
    for (int axis = view_.rank; axis-- > 0;) {
      element += view_.strides[axis];
      if (++at[axis] < view_.sizes[axis]) break;
      element -= at[axis] * view_.strides[axis];
      at[axis] = 0;
    }
  }
}

void Storage::set(const std::vector<double>& values) {
  with_type(view_.dtype, [&](auto* type) {
    using T = std::remove_pointer_t<decltype(type)>;
    each([&](int64_t i, int64_t element) {
      const T value = round_to<T>(values[static_cast<size_t>(i)]);
      std::memcpy(base_ + element * static_cast<int64_t>(sizeof(T)), &value, sizeof(T));
    });
  });
}

std::vector<double> Storage::values() const {
  std::vector<double> out(static_cast<size_t>(view_.elements()));
  with_type(view_.dtype, [&](auto* type) {
    using T = std::remove_pointer_t<decltype(type)>;
    each([&](int64_t i, int64_t element) {
      T value;
      std::memcpy(&value, base_ + element * static_cast<int64_t>(sizeof(T)), sizeof(T));
      out[static_cast<size_t>(i)] = to_f64(value);
    });
  });
  return out;
}

std::string Storage::damage() const {
  std::vector<bool> inside(static_cast<size_t>(elements_));
  each([&](int64_t, int64_t element) { inside[static_cast<size_t>(element)] = true; });
  for (int64_t i = 0; i < elements_; ++i) {
    if (inside[static_cast<size_t>(i)] || bits(i) == poison()) continue;
    return str("element ", i - first_, " from the view's origin was overwritten");
  }
  return "";
}

std::span<std::byte> Storage::memory() const {
  return {base_, static_cast<size_t>(elements_ * size_of(view_.dtype))};
}

int64_t Storage::first_unwritten() const {
  int64_t first = -1;
  each([&](int64_t i, int64_t element) {
    if (first < 0 && bits(element) == poison()) first = i;
  });
  return first;
}

}  // namespace convoy::test
