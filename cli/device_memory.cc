// Host memory is staged only for devices that cannot share it.
#include "device_memory.h"

#include <cstring>

namespace convoy::cli {
namespace {

bool on_host(DeviceId id) {
  return id.backend == Backend::kCpu;
}

}  // namespace

Result<Tensor> allocate_filled(const Device& device, DType dtype, std::span<const int64_t> sizes,
                               Layout layout,
                               const std::function<void(const TensorView& host)>& fill) {
  Result<Tensor> tensor = allocate(device, dtype, sizes, layout);
  if (!tensor) return tensor;
  if (on_host(device.info().id)) {
    fill(tensor->view);
    return tensor;
  }
  const Result<Device> cpu = convoy::device("cpu");
  if (!cpu) return cpu.status();
  const Result<Tensor> staged = allocate(*cpu, dtype, sizes, layout);
  if (!staged) return staged.status();
  fill(staged->view);
  if (Status s = copy(staged->view, tensor->view); !s.ok()) return s;
  return tensor;
}

Result<Tensor> allocate_poisoned(const Device& device, DType dtype, std::span<const int64_t> sizes,
                                 Layout layout) {
  return allocate_filled(device, dtype, sizes, layout, [](const TensorView& host) {
    const auto elements = static_cast<size_t>(host.elements());
    std::memset(host.data, 0xff, elements * static_cast<size_t>(size_of(host.dtype)));
  });
}

Result<HostTensor> to_host(const TensorView& view) {
  HostTensor host{.view = view};
  if (view.empty() || on_host(view.device)) return host;
  const Result<Device> cpu = convoy::device("cpu");
  if (!cpu) return cpu.status();
  Result<Tensor> owned =
      allocate(*cpu, view.dtype, {view.sizes.data(), static_cast<size_t>(view.rank)});
  if (!owned) return owned.status();
  host.owned = *std::move(owned);
  host.view = host.owned.view;
  if (Status s = copy(view, host.view); !s.ok()) return s;
  return host;
}

}  // namespace convoy::cli
