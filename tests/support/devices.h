// Devices of every ISA tier that this machine can run.
#pragma once

#include <convoy/convoy.h>

#include <vector>

#include "launch/cpu/cpu_device.h"

namespace convoy::test {

inline Device cpu_of(Isa tier, int threads) {
  const Result<Device> device = open_cpu({.isa_cap = tier, .threads = threads});
  return device ? *device : Device(DeviceInfo{.name = "no such tier"});
}

// Rising; the last is what the machine has.
inline std::vector<Isa> tiers() {
  const Result<Device> device = open_cpu({});
  return usable_tiers(device->info());
}

}  // namespace convoy::test
