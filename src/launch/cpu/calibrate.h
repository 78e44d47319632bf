// Measures the ceilings of the CPU.
#pragma once

#include <convoy/device.h>

namespace convoy {

Result<Ceilings> calibrate_cpu(const Device& device);

}  // namespace convoy
