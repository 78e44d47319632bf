// The functions of the fake CUDA driver, exported as libcuda exports its own.
#include "launch/cuda/fake_driver_test_util.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>

// NOLINTBEGIN(readability-identifier-naming): the driver's names.
namespace convoy::cuda {
namespace {

FakeDriver& fake() {
  static FakeDriver driver;
  return driver;
}

// Records the call; not 0 where it is to fail.
int enter(const char* function) {
  ++fake().calls[function];
  const auto found = fake().failures.find(function);
  return found == fake().failures.end() ? 0 : found->second;
}

template <class Handle>
Handle handle(uintptr_t value) {
  return reinterpret_cast<Handle>(value);
}

void* memory(CUdeviceptr address) {
  return reinterpret_cast<void*>(static_cast<uintptr_t>(address));
}

}  // namespace

#define CONVOY_ENTER \
  if (const int error = enter(__func__); error != 0) return error

// A function that does nothing but record its call.
#define CONVOY_RECORD(name, parameters) \
  CUresult name parameters {            \
    CONVOY_ENTER;                       \
    return kSuccess;                    \
  }

extern "C" {

FakeDriver* fake_driver() {
  return &fake();
}

CUresult cuDriverGetVersion(int* version) {
  CONVOY_ENTER;
  *version = fake().version;
  return kSuccess;
}

CONVOY_RECORD(cuInit, (unsigned))
CUresult cuGetErrorName(CUresult error, const char** name) {
  static std::string text;
  text = "CUDA_ERROR_" + std::to_string(error);
  *name = text.c_str();
  return kSuccess;
}

CUresult cuDeviceGetCount(int* count) {
  CONVOY_ENTER;
  *count = fake().devices;
  return kSuccess;
}

CUresult cuDeviceGet(CUdevice* device, int index) {
  CONVOY_ENTER;
  *device = index;
  return kSuccess;
}

CUresult cuDeviceGetName(char* name, int bytes, CUdevice device) {
  CONVOY_ENTER;
  const std::string text = "Fake GPU " + std::to_string(device);
  std::strncpy(name, text.c_str(), static_cast<size_t>(bytes));
  return kSuccess;
}

CUresult cuDeviceTotalMem_v2(size_t* bytes, CUdevice) {
  CONVOY_ENTER;
  *bytes = size_t{1} << 37;
  return kSuccess;
}

CUresult cuDeviceGetAttribute(int* value, int which, CUdevice) {
  CONVOY_ENTER;
  *value = fake().attributes[which];
  return kSuccess;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  CONVOY_ENTER;
  ++fake().retained[device];
  *context = handle<CUcontext>(0x100 + static_cast<uintptr_t>(device));
  return kSuccess;
}

CUresult cuCtxGetCurrent(CUcontext* context) {
  CONVOY_ENTER;
  *context = fake().contexts.empty() ? nullptr : fake().contexts.back();
  return kSuccess;
}

CUresult cuCtxPushCurrent_v2(CUcontext context) {
  CONVOY_ENTER;
  fake().contexts.push_back(context);
  return kSuccess;
}

CUresult cuCtxPopCurrent_v2(CUcontext* context) {
  CONVOY_ENTER;
  *context = fake().contexts.back();
  fake().contexts.pop_back();
  return kSuccess;
}

CUresult cuMemAlloc_v2(CUdeviceptr* address, size_t bytes) {
  CONVOY_ENTER;
  void* const made = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  if (made == nullptr) return kErrorOutOfMemory;
  *address = reinterpret_cast<uintptr_t>(made);
  ++fake().live_memory;
  return kSuccess;
}

CUresult cuMemFree_v2(CUdeviceptr address) {
  CONVOY_ENTER;
  std::free(memory(address));
  --fake().live_memory;
  return kSuccess;
}

CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream) {
  CONVOY_ENTER;
  std::memmove(memory(to), memory(from), bytes);
  return kSuccess;
}

CUresult cuStreamCreate(CUstream* stream, unsigned) {
  CONVOY_ENTER;
  *stream = handle<CUstream>(0x200);
  ++fake().live_streams;
  return kSuccess;
}

CUresult cuStreamDestroy_v2(CUstream) {
  CONVOY_ENTER;
  --fake().live_streams;
  return kSuccess;
}

CONVOY_RECORD(cuStreamSynchronize, (CUstream))
CUresult cuStreamBeginCapture_v2(CUstream, int) {
  CONVOY_ENTER;
  fake().capturing = true;
  return kSuccess;
}

CUresult cuStreamEndCapture(CUstream, CUgraph* graph) {
  CONVOY_ENTER;
  fake().capturing = false;
  *graph = handle<CUgraph>(0x300);
  ++fake().live_graphs;
  return kSuccess;
}

CUresult cuStreamIsCapturing(CUstream stream, int* status) {
  CONVOY_ENTER;
  *status = stream == kLegacyStream ? 0 : fake().capturing;
  if (stream == kLegacyStream) return fake().legacy_status;
  return kSuccess;
}

CUresult cuThreadExchangeStreamCaptureMode(int* mode) {
  CONVOY_ENTER;
  std::swap(*mode, fake().capture_mode);
  return kSuccess;
}

CUresult cuEventCreate(CUevent* event, unsigned) {
  CONVOY_ENTER;
  *event = handle<CUevent>(0x400);
  ++fake().live_events;
  return kSuccess;
}

CUresult cuEventDestroy_v2(CUevent) {
  CONVOY_ENTER;
  --fake().live_events;
  return kSuccess;
}

CONVOY_RECORD(cuEventRecord, (CUevent, CUstream))
CONVOY_RECORD(cuEventSynchronize, (CUevent))
CUresult cuEventElapsedTime(float* ms, CUevent, CUevent) {
  CONVOY_ENTER;
  *ms = fake().elapsed_ms;
  return kSuccess;
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec* exec, CUgraph, unsigned long long) {
  CONVOY_ENTER;
  *exec = handle<CUgraphExec>(0x500);
  ++fake().live_graphs;
  return kSuccess;
}

CONVOY_RECORD(cuGraphLaunch, (CUgraphExec, CUstream))
CUresult cuGraphDestroy(CUgraph) {
  CONVOY_ENTER;
  --fake().live_graphs;
  return kSuccess;
}

CUresult cuGraphExecDestroy(CUgraphExec) {
  CONVOY_ENTER;
  --fake().live_graphs;
  return kSuccess;
}

CUresult cuLibraryLoadData(CUlibrary* library, const void*, int*, void**, unsigned, int*, void**,
                           unsigned) {
  CONVOY_ENTER;
  *library = handle<CUlibrary>(0x600);
  fake().mode_of_load = fake().capture_mode;
  ++fake().live_libraries;
  return kSuccess;
}

CUresult cuLibraryUnload(CUlibrary) {
  CONVOY_ENTER;
  --fake().live_libraries;
  return kSuccess;
}

CUresult cuLibraryGetKernel(CUkernel* kernel, CUlibrary, const char* name) {
  CONVOY_ENTER;
  if (std::strcmp(name, "kernel") != 0) return kErrorNotFound;
  *kernel = handle<CUkernel>(0x700);
  return kSuccess;
}

CUresult cuKernelGetFunction(CUfunction* function, CUkernel) {
  CONVOY_ENTER;
  *function = handle<CUfunction>(0x800);
  return kSuccess;
}

CUresult cuKernelGetAttribute(int* value, int, CUkernel, CUdevice) {
  CONVOY_ENTER;
  *value = fake().allowed_shared;
  return kSuccess;
}

CUresult cuKernelSetAttribute(int, int value, CUkernel, CUdevice) {
  CONVOY_ENTER;
  fake().allowed_shared = value;
  return kSuccess;
}

CUresult cuLaunchKernel(CUfunction function, unsigned x, unsigned y, unsigned z, unsigned threads,
                        unsigned threads_y, unsigned threads_z, unsigned shared_bytes,
                        CUstream stream, void** parameters, void**) {
  CONVOY_ENTER;
  if (function != handle<CUfunction>(0x700) || y * z * threads_y * threads_z != 1) return 1;
  const auto* args = static_cast<const std::byte*>(parameters[0]);
  fake().launched = {x,
                     threads,
                     shared_bytes,
                     stream,
                     fake().contexts.back(),
                     {args, args + fake().parameter_bytes}};
  return kSuccess;
}

CONVOY_RECORD(cuFuncLoad, (CUfunction))
CUresult cuKernelGetParamInfo(CUkernel, size_t, size_t* offset, size_t* bytes) {
  CONVOY_ENTER;
  *offset = 0;
  *bytes = fake().parameter_bytes;
  return kSuccess;
}

}  // extern "C"

}  // namespace convoy::cuda
// NOLINTEND(readability-identifier-naming)
