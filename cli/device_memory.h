// Tensors of any device, filled and read from the host.
#pragma once

#include <convoy/convoy.h>

#include <functional>

namespace convoy::cli {

// A tensor whose elements `fill` writes through a view of host memory, in the same layout.
Result<Tensor> allocate_filled(const Device& device, DType dtype, std::span<const int64_t> sizes,
                               Layout layout,
                               const std::function<void(const TensorView& host)>& fill);

// A tensor that holds NaN in every dtype, so that an element never written shows.
Result<Tensor> allocate_poisoned(const Device& device, DType dtype, std::span<const int64_t> sizes,
                                 Layout layout);

// The same elements in host memory; `view` itself where it lies there.
struct HostTensor {
  Tensor owned;
  TensorView view;
};
Result<HostTensor> to_host(const TensorView& view);

}  // namespace convoy::cli
