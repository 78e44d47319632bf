// Compiled code on a CUDA GPU, loaded as a library of kernels that no context owns.
#pragma once

#include <convoy/device.h>

#include "launch/backend.h"

namespace convoy::cuda {

Result<std::shared_ptr<const LoadedImage>> load(int index, std::span<const std::byte> image);
bool capture_is_running(int index);

}  // namespace convoy::cuda
