// The seam that a backend fills: devices, memory, timing, and the launch of compiled code.
#pragma once

#include <convoy/device.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace convoy {

struct LaunchShape;

// What the environment says about devices.
struct DeviceOptions {
  std::optional<Isa> isa_cap;              // of a CPU: nothing above this tier
  int threads = 0;                         // of a CPU; 0: as many as affinity and cgroup allow
  int64_t index_limit = int64_t{1} << 31;  // see DeviceInfo
};

// A function of loaded code. It lives as long as the last copy of its pointer.
class LoadedFunction {
 public:
  virtual ~LoadedFunction() = default;
  // As DeviceFunction::launch.
  virtual Status launch(const LaunchShape& shape, const void* args, size_t args_bytes,
                        Stream stream) const = 0;
};

// Code on a device.
class LoadedImage {
 public:
  virtual ~LoadedImage() = default;
  // As Module::function; the function keeps its image alive.
  virtual Result<std::shared_ptr<const LoadedFunction>> function(const char* name,
                                                                 int64_t shared_bytes) const = 0;
};

// A stream of its own, and replays of work captured on it, timed on the device.
class StreamTimer {
 public:
  virtual ~StreamTimer() = default;
  virtual Stream stream() const = 0;
  virtual Status capture(const std::function<Status(Stream)>& work) = 0;  // replaces the last one
  virtual Result<double> replay_us() = 0;
  virtual Result<double> stream_us(const std::function<Status(Stream)>& work) = 0;
};

// One row of backends.inc. Functions are called for devices of their own backend; a null one means
// that the backend has no such thing. A device is named by its index.
struct BackendFunctions {
  Backend backend;
  const char* name;
  // kUnavailable says what is missing: a library, a driver, a device.
  Result<int> (*count)();
  Result<Device> (*open)(int index, const DeviceOptions& options);
  std::vector<Device> (*tiers)(const Device& device);
  Result<std::shared_ptr<void>> (*allocate)(int index, size_t bytes);
  Status (*copy)(int index, void* to, const void* from, size_t bytes, Stream stream);
  Status (*synchronize)(int index, Stream stream);
  Result<Ceilings> (*calibrate)(const Device& device);
  Result<std::shared_ptr<const LoadedImage>> (*load)(int index, std::span<const std::byte> image);
  bool (*capture_is_running)(int index);
  Result<std::unique_ptr<StreamTimer>> (*timer)(int index);
};

// The backends of this build, the CPU first.
std::span<const BackendFunctions* const> backends();
// kUnavailable where this build lacks it.
Result<const BackendFunctions*> backend_functions(Backend backend);
// Null where no backend of this build has the name.
const BackendFunctions* backend_named(std::string_view name);

}  // namespace convoy
