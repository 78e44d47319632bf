// Compiled device code: an image loaded on a device, its functions, and their launch.
#pragma once

#include <convoy/device.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "launch/backend.h"

namespace convoy {

// A one-dimensional grid along x.
struct LaunchShape {
  uint32_t blocks = 1;  // up to 2^31 - 1
  uint32_t threads = 1;
  uint32_t shared_bytes = 0;  // dynamic; at most what Module::function() was asked for
};

// Copyable; keeps its module alive. A default one launches nothing and fails.
class DeviceFunction {
 public:
  DeviceFunction() = default;
  explicit DeviceFunction(std::shared_ptr<const LoadedFunction> loaded)
      : loaded_(std::move(loaded)) {}
  // Starts the function on `stream` with one struct of arguments, passed by value. No allocation,
  // no lock, no synchronisation; fit for a stream capture. kUnavailable: the device is lost.
  Status launch(const LaunchShape& shape, const void* args, size_t args_bytes, Stream stream) const;

 private:
  std::shared_ptr<const LoadedFunction> loaded_;
};

// Copyable; the code is unloaded with the last copy and the last function.
class Module {
 public:
  // kUnavailable: the device, or an image made for another one; kUnsupported: a device without
  // loadable code. A stream capture that runs meanwhile stays usable.
  static Result<Module> load(const Device& device, std::span<const std::byte> image);
  // The extern "C" function `name`, allowed `shared_bytes` of dynamic shared memory. Never lowers
  // what an earlier call allowed.
  Result<DeviceFunction> function(const char* name, int64_t shared_bytes) const;

 private:
  std::shared_ptr<const LoadedImage> image_;
};

// True while a stream capture that forbids loading code is seen on the device: one by a blocking
// stream, or by the calling thread's default stream.
bool capture_is_running(const Device& device);

}  // namespace convoy
