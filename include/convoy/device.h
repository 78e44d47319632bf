// Devices: what a machine can compute with, its measured ceilings, streams and buffers.
#pragma once

#include <convoy/status.h>
#include <convoy/tensor.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace convoy {

// CPU instruction tiers in rising order; kNeon stands alone on AArch64.
enum class Isa { kBaseline, kAvx2, kAvx512, kAvx512Bf16, kNeon };
const char* name(Isa isa);
std::optional<Isa> isa_from_name(std::string_view text);

// What a device measured of itself. Copies: bytes read plus bytes written, per second.
struct Ceilings {
  struct Copy {
    int64_t bytes;  // working set, source plus destination
    double gbs;
  };
  std::vector<Copy> copy;         // by rising working set
  double copy_streaming_gbs = 0;  // beyond the caches, non-temporal stores
  double fma_gflops = 0;          // f32 multiply-adds, two flops each, all threads
  double matrix_gflops = 0;       // matrix or dot unit, bf16; 0 where there is none
  double matrix_f16_gflops = 0;   // the same in f16
  double matrix_tf32_gflops = 0;  // the same in tf32
  double fork_join_us = 0;        // an empty parallel loop on all threads; an empty GPU kernel
  // GB/s of a copy whose source and destination take `bytes` together.
  double copy_gbs(int64_t bytes) const;
};

struct DeviceInfo {
  DeviceId id;
  std::string name;          // as the vendor prints it
  std::string arch;          // x86_64, aarch64, sm_90, ...
  Isa isa = Isa::kBaseline;  // of a CPU
  int threads = 1;           // of a CPU
  int64_t memory_bytes = 0;
  int64_t l2_bytes = 0;  // of one CPU core; of a GPU the whole
  int64_t l3_bytes = 0;
  int multiprocessors = 0;             // this and the next three: of a GPU
  int64_t shared_bytes_per_block = 0;  // what a kernel may opt in to
  int64_t shared_bytes_per_multiprocessor = 0;
  double clock_mhz = 0;  // the highest
  // Kernels with 32-bit offsets take tensors whose offsets stay below it; tests lower it.
  int64_t index_limit = int64_t{1} << 31;
  Ceilings ceilings;  // measured, or the defaults of the backend where `measured` is false
  bool measured = false;
};

// A device that can run plans. Cheap to copy; immutable.
class Device {
 public:
  Device() = default;
  explicit Device(DeviceInfo info) : info_(std::make_shared<const DeviceInfo>(std::move(info))) {}
  const DeviceInfo& info() const { return *info_; }
  // The same device with ceilings from calibrate() or from a cache of them.
  Device with_ceilings(const Ceilings& ceilings) const;

 private:
  std::shared_ptr<const DeviceInfo> info_;
};

// The device once for every instruction tier that it can run, rising: the copies differ in nothing
// but `isa`. A device without tiers gives itself.
std::vector<Device> tier_devices(const Device& device);

// An order of work on a device. CPU work completes before run() returns; GPU work is complete after
// synchronize(). The handle is a CUstream of the driver; null is the legacy default stream.
struct Stream {
  void* handle = nullptr;
};

// Waits for the work of a stream. kUnavailable: a kernel on it failed and the device is lost.
Status synchronize(const Device& device, Stream stream = {});

// Copies between memory of the device and of the host, either way, or within either. In the order
// of a stream that is named (then host memory must outlive the copy); complete on return on the
// default stream.
Status copy_bytes(const Device& device, void* to, const void* from, size_t bytes,
                  Stream stream = {});

// Owned memory of a device, 64-byte aligned.
class Buffer {
 public:
  static Result<Buffer> allocate(const Device& device, size_t bytes);
  void* data() const { return data_.get(); }
  size_t bytes() const { return bytes_; }

 private:
  std::shared_ptr<void> data_;
  size_t bytes_ = 0;
};

// Measures the ceilings of a device in under 3 seconds. On a GPU the copies; arithmetic keeps its
// defaults.
Result<Ceilings> calibrate(const Device& device);

// The larger of a copy of `bytes` and of `flops` over the arithmetic ceiling, in microseconds.
struct Limit {
  double us = 0;
  bool by_compute = false;
};
Limit limit(int64_t flops, int64_t bytes, DType dtype, const Ceilings& ceilings);

// Replaces the thread pool: called as parallel_for(count, body), it runs body(i) for every i in
// [0, count) on any threads and returns when all are done. Empty restores oneTBB. Not thread-safe:
// call it before the first plan runs.
using ParallelFor = std::function<void(int64_t count, const std::function<void(int64_t)>& body)>;
void set_parallel_for(ParallelFor parallel_for);

}  // namespace convoy
