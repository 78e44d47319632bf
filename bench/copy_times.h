// What a copy of a row's bytes takes on a device, in the row's cache state and in the same run.
#pragma once

#include <map>

#include "bench/graph_sampler.h"
#include "bench/row.h"

namespace convoy::bench {

// Drives everything out of a device's caches by a copy of `bytes`.
class CacheFlush {
 public:
  static Result<CacheFlush> create(const Device& device, int64_t bytes);
  Status operator()(Stream stream) const;

 private:
  Device device_;
  Buffer buffer_;
};

class CopyTimes {
 public:
  CopyTimes(const Device& device, int64_t cold_bytes) : device_(device), cold_bytes_(cold_bytes) {}
  // Microseconds of a copy that reads and writes `bytes` together. Sizes within 3 % share one
  // measurement, scaled.
  Result<double> us(int64_t bytes, Cache cache, GraphTimer& timer, const CacheFlush& flush);

 private:
  Result<double> measure(int64_t bytes, Cache cache, GraphTimer& timer, const CacheFlush& flush);

  Device device_;
  int64_t cold_bytes_;
  Buffer buffer_;
  std::map<std::pair<Cache, int64_t>, double> known_;
};

}  // namespace convoy::bench
