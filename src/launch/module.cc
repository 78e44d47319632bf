// Modules and functions pass their calls on to the backend that loaded them.
#include "launch/module.h"

#include "base/str.h"

namespace convoy {

Status DeviceFunction::launch(const LaunchShape& shape, const void* args, size_t args_bytes,
                              Stream stream) const {
  if (loaded_ == nullptr) return internal("launch: a function that was never loaded");
  return loaded_->launch(shape, args, args_bytes, stream);
}

Result<Module> Module::load(const Device& device, std::span<const std::byte> image) {
  const auto functions = backend_functions(device.info().id.backend);
  if (!functions) return functions.status();
  if ((*functions)->load == nullptr) {
    return unsupported(str("module: device ", device.info().name, " loads no compiled code"));
  }
  auto loaded = (*functions)->load(device.info().id.index, image);
  if (!loaded) return loaded.status();
  Module module;
  module.image_ = *std::move(loaded);
  return module;
}

Result<DeviceFunction> Module::function(const char* name, int64_t shared_bytes) const {
  if (image_ == nullptr) return internal("module: nothing was loaded");
  auto loaded = image_->function(name, shared_bytes);
  if (!loaded) return loaded.status();
  return DeviceFunction(*std::move(loaded));
}

bool capture_is_running(const Device& device) {
  const auto functions = backend_functions(device.info().id.backend);
  return functions && (*functions)->capture_is_running != nullptr &&
         (*functions)->capture_is_running(device.info().id.index);
}

}  // namespace convoy
