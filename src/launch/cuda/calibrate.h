// Measures the ceilings of a CUDA GPU.
#pragma once

#include <convoy/device.h>

namespace convoy::cuda {

// Copies by size over rotating buffers and an empty kernel, each replayed as one graph. Arithmetic
// keeps the figures that the device was opened with.
Result<Ceilings> calibrate(const Device& device);

}  // namespace convoy::cuda
