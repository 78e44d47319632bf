// Finds the backend of a device and passes the public calls on to it.
#include "launch/backend.h"

#include "base/str.h"

namespace convoy {

#define CONVOY_BACKEND(functions) extern const BackendFunctions functions;
#include "launch/backends.inc"
#undef CONVOY_BACKEND

std::span<const BackendFunctions* const> backends() {
  static constexpr const BackendFunctions* kAll[] = {
#define CONVOY_BACKEND(functions) &(functions),
#include "launch/backends.inc"
#undef CONVOY_BACKEND
  };
  return kAll;
}

Result<const BackendFunctions*> backend_functions(Backend backend) {
  for (const BackendFunctions* functions : backends()) {
    if (functions->backend == backend) return functions;
  }
  constexpr const char* kNames[] = {"cpu", "cuda", "hip"};
  return unavailable(str("device: this build lacks the ", kNames[static_cast<int>(backend)],
                         " backend; use --device cpu"));
}

const BackendFunctions* backend_named(std::string_view name) {
  for (const BackendFunctions* functions : backends()) {
    if (functions->name == name) return functions;
  }
  return nullptr;
}

std::vector<Device> tier_devices(const Device& device) {
  const auto functions = backend_functions(device.info().id.backend);
  if (!functions || (*functions)->tiers == nullptr) return {device};
  return (*functions)->tiers(device);
}

Status copy_bytes(const Device& device, void* to, const void* from, size_t bytes, Stream stream) {
  const auto functions = backend_functions(device.info().id.backend);
  if (!functions) return functions.status();
  if (bytes == 0) return {};
  return (*functions)->copy(device.info().id.index, to, from, bytes, stream);
}

Status synchronize(const Device& device, Stream stream) {
  const auto functions = backend_functions(device.info().id.backend);
  if (!functions) return functions.status();
  return (*functions)->synchronize(device.info().id.index, stream);
}

Result<Ceilings> calibrate(const Device& device) {
  const auto functions = backend_functions(device.info().id.backend);
  if (!functions) return functions.status();
  return (*functions)->calibrate(device);
}

}  // namespace convoy
