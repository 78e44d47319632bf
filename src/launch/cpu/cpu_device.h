// The CPU as a device: what it is, and a cap on what may be used of it.
#pragma once

#include <convoy/device.h>

#include "launch/backend.h"

namespace convoy {

// kInvalid where the cap names a tier of another architecture.
Result<Device> open_cpu(const DeviceOptions& options);

// The tiers that this CPU and this build can run, rising, after the cap of `device`.
std::vector<Isa> usable_tiers(const DeviceInfo& device);

}  // namespace convoy
