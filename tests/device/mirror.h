// Operands of a trial in device memory, guard bands and poison included.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "conformance/runs.h"
#include "launch/timer.h"

namespace convoy::test {

// Device memory that trials of one thread take one after the other.
class Arena {
 public:
  explicit Arena(Device device) : device_(std::move(device)) {}
  // At least `bytes`; what an earlier call gave is lost.
  Result<std::byte*> reserve(size_t bytes);
  const Device& device() const { return device_; }

 private:
  Device device_;
  Buffer buffer_;
};

// A stream of its own; on a CPU, where the harness itself is tried out, the default one.
class OwnStream {
 public:
  static Result<OwnStream> create(const Device& device);
  Stream stream() const { return timer_ ? timer_->stream() : Stream{}; }

 private:
  std::optional<GraphTimer> timer_;
};

// Every storage of `operands` copied whole to the device, and back.
class DeviceMirror {
 public:
  static Result<DeviceMirror> upload(const Operands& operands, Arena& arena, Stream stream);

  const RunArgs& args() const { return args_; }
  // Waits for the stream; the storages then hold what the device does.
  Status download();
  // The same with other data: operands of the same problem and forms, to the same addresses.
  Status refresh(const Operands& operands);

 private:
  const Operands* operands_ = nullptr;
  Device device_;
  Stream stream_;
  std::byte* memory_ = nullptr;
  std::vector<std::byte> staging_;
  RunArgs args_;
};

// Uploads, runs `plan`, downloads: for Answer::fault_of_run().
Status run_on_device(const Plan& plan, const Operands& operands, Arena& arena, Stream stream);

}  // namespace convoy::test
