// The row of the CPU backend: see launch/backend.h.
#include <cstdlib>
#include <cstring>

#include "base/str.h"
#include "launch/backend.h"
#include "launch/cpu/calibrate.h"
#include "launch/cpu/cpu_device.h"

namespace convoy {
namespace {

Result<int> count() {
  return 1;
}

Result<Device> open(int, const DeviceOptions& options) {
  return open_cpu(options);
}

std::vector<Device> tiers(const Device& device) {
  std::vector<Device> devices;
  for (const Isa tier : usable_tiers(device.info())) {
    DeviceInfo info = device.info();
    info.isa = tier;
    devices.emplace_back(std::move(info));
  }
  return devices;
}

Result<std::shared_ptr<void>> allocate(int, size_t bytes) {
  constexpr size_t kAlign = 64;
  void* memory = nullptr;
  if (bytes > SIZE_MAX - kAlign ||
      posix_memalign(&memory, kAlign, (bytes + kAlign) / kAlign * kAlign) != 0) {
    return unavailable(
        str("buffer: ", bytes, " bytes exceed the free memory; use a smaller problem"));
  }
  return std::shared_ptr<void>(memory, std::free);
}

Status copy(int, void* to, const void* from, size_t bytes, Stream) {
  std::memmove(to, from, bytes);
  return {};
}

Status synchronize(int, Stream) {
  return {};
}

}  // namespace

extern const BackendFunctions kCpuBackend;
const BackendFunctions kCpuBackend = {
    .backend = Backend::kCpu,
    .name = "cpu",
    .count = count,
    .open = open,
    .tiers = tiers,
    .allocate = allocate,
    .copy = copy,
    .synchronize = synchronize,
    .calibrate = calibrate_cpu,
    .load = nullptr,
    .capture_is_running = nullptr,
    .timer = nullptr,
};

}  // namespace convoy
