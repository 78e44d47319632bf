// Operand sets in device memory: values made once on the host and repeated by copies there.
#pragma once

#include <map>

#include "bench/operand_sets.h"

namespace convoy::bench {

// A few megabytes of normal values per dtype, and of NaN, in device memory.
class Pools {
 public:
  explicit Pools(Device device) : device_(std::move(device)) {}
  // Fills `bytes` at `to` with values of `dtype`; `which` moves the start, so that two operands
  // differ.
  Status fill_normal(DType dtype, std::byte* to, int64_t bytes, int64_t which);
  Status fill_nan(void* to, int64_t bytes);

 private:
  Result<Buffer> normal(DType dtype);
  // Copies `from` to the begin of `to`, then what is there to what follows, doubling.
  Status repeat(const void* from, int64_t period, std::byte* to, int64_t bytes);

  Device device_;
  std::map<DType, Buffer> normal_;
  Buffer nan_;
};

// Sets that take `total_bytes` together, but from 2 to `most` of them. Outputs start as NaN.
Result<OperandSets> make_device_sets(const ConvProblem& problem, const Device& device,
                                     int64_t total_bytes, int64_t most, Slab& slab, Pools& pools);

}  // namespace convoy::bench
