// Times work on a CUDA GPU: a stream, two events, and a graph of captured work.
#pragma once

#include <convoy/device.h>

#include "launch/backend.h"

namespace convoy::cuda {

Result<std::unique_ptr<StreamTimer>> make_timer(int index);

}  // namespace convoy::cuda
