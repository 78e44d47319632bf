// Reads what a GPU is from the driver, and moves its memory.
#include "launch/cuda/cuda_device.h"

#include <algorithm>
#include <bit>

#include "base/str.h"
#include "launch/cuda/driver.h"

namespace convoy::cuda {
namespace {

CUdeviceptr address(const void* memory) {
  return static_cast<CUdeviceptr>(reinterpret_cast<uintptr_t>(memory));
}

// Reads attributes of one device and keeps the first error.
class Attributes {
 public:
  Attributes(const Driver& driver, int index) : driver_(driver) {
    result_ = driver.device_get(&device_, index);
  }
  int64_t operator[](DeviceAttribute which) {
    int value = 0;
    keep(driver_.device_attribute(&value, which, device_));
    return value;
  }
  std::string name() {
    char text[256] = "";
    keep(driver_.device_name(text, sizeof text - 1, device_));
    return text;
  }
  int64_t memory_bytes() {
    size_t bytes = 0;
    keep(driver_.device_memory(&bytes, device_));
    return static_cast<int64_t>(bytes);
  }
  CUresult result() const { return result_; }

 private:
  void keep(CUresult result) {
    if (result_ == kSuccess) result_ = result;
  }
  const Driver& driver_;
  CUdevice device_ = 0;
  CUresult result_;
};

// Rates per multiprocessor and clock against sm_90 (CUDA programming guide, throughput of native
// arithmetic instructions; dense 16-bit matrix rates of the architecture papers).
struct Generation {
  int from;  // capability
  double fma, matrix;
};
constexpr Generation kGenerations[] = {{0, 0.5, 0}, {70, 0.5, 0.25}, {80, 0.5, 0.5}, {86, 1, 0.25},
                                       {90, 1, 1},  {100, 1, 2},     {120, 1, 0.25}};

// A copy's time on an H200 by the bytes that it reads and writes together, buffers larger than L2
// in rotation: docs/calibration.md.
struct CopyTime {
  int64_t bytes;
  double us;
};
constexpr CopyTime kCopyTimes[] = {{200'000, 1.63},     {800'000, 2.81},    {2'000'000, 3.24},
                                   {4'000'000, 3.96},   {8'000'000, 4.63},  {16'000'000, 6.31},
                                   {32'000'000, 9.93},  {64'000'000, 17.7}, {128'000'000, 33.0},
                                   {256'000'000, 63.9}, {512'000'000, 124}};

}  // namespace

Ceilings default_ceilings(const Machine& machine) {
  const Machine h200;
  const double clocks = static_cast<double>(machine.multiprocessors) * machine.clock_mhz /
                        (static_cast<double>(h200.multiprocessors) * h200.clock_mhz);
  Generation rates = kGenerations[0];
  for (const Generation& generation : kGenerations) {
    if (machine.capability >= generation.from) rates = generation;
  }
  Ceilings c;
  for (const CopyTime& time : kCopyTimes) {
    c.copy.push_back({time.bytes, static_cast<double>(time.bytes) / (time.us * 1e3) *
                                      machine.memory_gbs / h200.memory_gbs});
  }
  c.fma_gflops = 60e3 * clocks * rates.fma;
  c.matrix_gflops = 800e3 * clocks * rates.matrix;
  c.matrix_f16_gflops = c.matrix_gflops;
  c.matrix_tf32_gflops = machine.capability >= 80 ? 400e3 * clocks * rates.matrix : 0;
  c.fork_join_us = 0.5;
  return c;
}

Result<int> count_devices() {
  const Result<Driver>& loaded = driver();
  if (!loaded) return loaded.status();
  return loaded->devices;
}

Result<Device> open_device(int index, const DeviceOptions& options) {
  const Result<int> count = count_devices();
  if (!count) return count.status();
  if (index < 0 || index >= *count) {
    return unavailable(str("device cuda:", index, ": this machine has ", *count,
                           " CUDA device(s), counted from 0; use a smaller index"));
  }
  const Driver& driver = *cuda::driver();
  Attributes get(driver, index);
  const int64_t major = get[kAttributeCapabilityMajor], minor = get[kAttributeCapabilityMinor];
  DeviceInfo info;
  info.id = {Backend::kCuda, index};
  info.name = get.name();
  info.arch = str("sm_", major, minor);
  info.memory_bytes = get.memory_bytes();
  info.l2_bytes = get[kAttributeL2Bytes];
  info.multiprocessors = static_cast<int>(get[kAttributeMultiprocessors]);
  info.shared_bytes_per_block = get[kAttributeSharedBytesPerBlockOptin];
  info.shared_bytes_per_multiprocessor = get[kAttributeSharedBytesPerMultiprocessor];
  info.clock_mhz = static_cast<double>(get[kAttributeClockRate]) / 1e3;
  info.index_limit = options.index_limit;
  if (get.result() != kSuccess) {
    return error_status(driver, get.result(), str("attributes of cuda:", index));
  }
  // Two transfers a clock on every data line; a driver that hides them leaves the H200's.
  Machine machine{static_cast<int>(10 * major + minor), info.multiprocessors, info.clock_mhz};
  const auto bits = static_cast<double>(get[kAttributeMemoryBusWidth]);
  const auto khz = static_cast<double>(get[kAttributeMemoryClockRate]);
  if (get.result() == kSuccess && bits > 0 && khz > 0) machine.memory_gbs = 2 * khz * bits / 8e6;
  info.ceilings = default_ceilings(machine);
  return Device(std::move(info));
}

Result<std::shared_ptr<void>> allocate(int index, size_t bytes) {
  const ScopedContext scope(index);
  if (!scope.status().ok()) return scope.status();
  const RelaxedCapture relaxed(scope.driver());
  CUdeviceptr memory = 0;
  const CUresult result = scope.driver().allocate(&memory, std::max<size_t>(bytes, 1));
  if (result == kErrorOutOfMemory) {
    return unavailable(str("buffer: cuda:", index, " is out of device memory: ", bytes,
                           " bytes exceed what is free; use a smaller problem"));
  }
  if (result != kSuccess) {
    return error_status(scope.driver(), result, str("allocation of ", bytes, " bytes"));
  }
  const auto release = [index](void* address_of_memory) {
    const ScopedContext again(index);
    if (!again.status().ok()) return;
    const RelaxedCapture allowed(again.driver());
    again.driver().free(address(address_of_memory));  // fails once the process ends: all is freed
  };
  return std::shared_ptr<void>(std::bit_cast<void*>(memory), release);
}

// Unified addresses tell the direction.
Status copy(int index, void* to, const void* from, size_t bytes, Stream stream) {
  const ScopedContext scope(index);
  if (!scope.status().ok()) return scope.status();
  const Driver& driver = scope.driver();
  CUresult result = driver.copy_async(address(to), address(from), bytes, stream.handle);
  if (result == kSuccess && stream.handle == nullptr) result = driver.stream_synchronize(nullptr);
  return error_status(driver, result, str("copy of ", bytes, " bytes on cuda:", index));
}

Status synchronize(int index, Stream stream) {
  const ScopedContext scope(index);
  if (!scope.status().ok()) return scope.status();
  return error_status(scope.driver(), scope.driver().stream_synchronize(stream.handle),
                      str("work on cuda:", index));
}

}  // namespace convoy::cuda
