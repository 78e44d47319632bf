// The CPU as a device: what it is, and a cap on what may be used of it.
#pragma once

#include <convoy/device.h>

#include <optional>

namespace convoy {

struct CpuOptions {
  std::optional<Isa> isa_cap;  // nothing above this tier
  int threads = 0;             // 0: as many as affinity and cgroup allow
};

// kInvalid where the cap names a tier of another architecture.
Result<Device> open_cpu(const CpuOptions& options);

// The tiers that this CPU and this build can run, rising, after the cap of `device`.
std::vector<Isa> usable_tiers(const DeviceInfo& device);

}  // namespace convoy
