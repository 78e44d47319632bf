// A CUDA GPU as a device: what it is, what to plan with before a calibration, and its memory.
#pragma once

#include <convoy/device.h>

#include "launch/backend.h"

namespace convoy::cuda {

Result<int> count_devices();
Result<Device> open_device(int index, const DeviceOptions& options);

// Figures of an H200 scaled to another GPU by its clocks, memory and generation.
struct Machine {
  int capability = 90;  // 10 * major + minor
  int multiprocessors = 132;
  double clock_mhz = 1980;
  double memory_gbs = 4917;  // by the data sheet
};
Ceilings default_ceilings(const Machine& machine);

Result<std::shared_ptr<void>> allocate(int index, size_t bytes);
Status copy(int index, void* to, const void* from, size_t bytes, Stream stream);
Status synchronize(int index, Stream stream);

}  // namespace convoy::cuda
