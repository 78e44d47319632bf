// Memory of one tensor for a test: any strided view inside poisoned, guarded storage.
#pragma once

#include <convoy/convoy.h>

#include <span>
#include <string>
#include <vector>

namespace convoy::test {

// How a tensor lies in memory, in elements.
struct Form {
  std::array<int64_t, kMaxRank> strides = {};
  int64_t offset = 0;
};

Form packed_form(const Shape& shape, Layout layout);

// Every element starts as a NaN with a payload that no computation makes: reading beside the view
// shows as NaN, writing beside it as damage(), and an element never written keeps the pattern.
class Storage {
 public:
  Storage(DType dtype, const Shape& shape, const Form& form);

  const TensorView& view() const { return view_; }
  // In logical row-major order, rounded to the dtype. With stride 0 the last value stays.
  void set(const std::vector<double>& values);
  std::vector<double> values() const;
  // Empty, or which element beside the view was overwritten.
  std::string damage() const;
  // Everything that the guards and the view take; the view lies in it.
  std::span<std::byte> memory() const;
  // Logical index of the first element of the view that was never written, or -1.
  int64_t first_unwritten() const;

 private:
  // Calls f(logical index, element index in memory_) for every element of the view.
  template <class F>
  void each(F&& f) const;
  uint32_t bits(int64_t element) const;
  uint32_t poison() const;

  std::vector<std::byte> memory_;
  std::byte* base_ = nullptr;  // 64-byte aligned
  int64_t elements_ = 0;
  int64_t first_ = 0;  // element index of the view's origin
  TensorView view_;
};

}  // namespace convoy::test
