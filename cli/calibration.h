// The cache of measured ceilings: one JSON file per CPU model, instruction tier and thread count,
// or GPU.
#pragma once

#include <convoy/device.h>

#include <optional>
#include <string>
#include <vector>

#include "output.h"

namespace convoy::cli {

// Nothing where no file of this user, schema and device is there and whole.
std::optional<Ceilings> load_calibration(const DeviceInfo& device);
// Replaces the file; the oldest others go where the cache would exceed its limit.
Status store_calibration(const DeviceInfo& device, const Ceilings& ceilings);

struct CacheEntry {
  std::string path, key, arch;
  int64_t bytes = 0;
};
// The files of this user that load_calibration() could read, oldest first.
std::vector<CacheEntry> cache_entries();
// Removes every calibration file of this user, broken ones too.
Status clear_cache();

Json ceilings_json(const Ceilings& ceilings);

}  // namespace convoy::cli
