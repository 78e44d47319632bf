// The row of the CUDA backend: see launch/backend.h.
#include "launch/backend.h"
#include "launch/cuda/calibrate.h"
#include "launch/cuda/cuda_device.h"
#include "launch/cuda/cuda_module.h"
#include "launch/cuda/cuda_timer.h"

namespace convoy {

extern const BackendFunctions kCudaBackend;
const BackendFunctions kCudaBackend = {
    .backend = Backend::kCuda,
    .name = "cuda",
    .count = cuda::count_devices,
    .open = cuda::open_device,
    .tiers = nullptr,
    .allocate = cuda::allocate,
    .copy = cuda::copy,
    .synchronize = cuda::synchronize,
    .calibrate = cuda::calibrate,
    .load = cuda::load,
    .capture_is_running = cuda::capture_is_running,
    .timer = cuda::make_timer,
};

}  // namespace convoy
