// Operand: a TensorView as typed pointer and five strides, so that a kernel runs every rank as 3D.
#pragma once

#include <convoy/tensor.h>

#include <array>
#include <cstdint>

namespace convoy {

inline double to_f64(float v) {
  return v;
}
inline double to_f64(double v) {
  return v;
}
inline double to_f64(Half v) {
  return v.value();
}
inline double to_f64(BFloat16 v) {
  return v.value();
}

// Strides in elements along (N,C,D,H,W) of x, (K,C/g,T,R,S) of w, (N,K,Z,P,Q) of y.
template <class T>
struct Operand {
  T* data = nullptr;
  std::array<int64_t, 5> stride = {};

  T& at(int64_t a, int64_t b, int64_t c, int64_t d, int64_t e) const {
    return data[a * stride[0] + b * stride[1] + c * stride[2] + d * stride[3] + e * stride[4]];
  }
};

template <class T>
Operand<T> operand(const TensorView& view) {
  Operand<T> out{.data = static_cast<T*>(view.data)};
  out.stride[0] = view.strides[0];
  if (view.rank > 1) out.stride[1] = view.strides[1];
  for (int i = 2; i < view.rank; ++i)
    out.stride[5 - view.rank + i] = view.strides[i];
  return out;
}

// Calls f with a null pointer of the host type that stores `dtype`; the reserved dtypes never come.
template <class F>
auto with_type(DType dtype, F&& f) {
  if (dtype == DType::kF16) return f(static_cast<Half*>(nullptr));
  if (dtype == DType::kBf16) return f(static_cast<BFloat16*>(nullptr));
  return f(static_cast<float*>(nullptr));
}

}  // namespace convoy
