// The part of the CUDA driver interface that Convoy calls: types, constants, one row per function.
#pragma once

#include <cstddef>
#include <cstdint>

namespace convoy::cuda {

// Handles and constants have the values of the CUDA 12.0 driver API, which later drivers keep.
using CUresult = int;
using CUdevice = int;
using CUdeviceptr = uint64_t;
using CUcontext = struct CUctxOpaque*;
using CUstream = void*;
using CUevent = struct CUeventOpaque*;
using CUgraph = struct CUgraphOpaque*;
using CUgraphExec = struct CUgraphExecOpaque*;
using CUlibrary = struct CUlibraryOpaque*;
using CUkernel = struct CUkernelOpaque*;
using CUfunction = struct CUfunctionOpaque*;

enum : CUresult {
  kSuccess = 0,
  kErrorInvalidValue = 1,
  kErrorOutOfMemory = 2,
  kErrorNotInitialized = 3,
  kErrorDeinitialized = 4,
  kErrorStubLibrary = 34,
  kErrorDeviceUnavailable = 46,
  kErrorNoDevice = 100,
  kErrorInvalidDevice = 101,
  kErrorInvalidImage = 200,
  kErrorNoBinaryForGpu = 209,
  kErrorEccUncorrectable = 214,
  kErrorUnsupportedPtxVersion = 222,
  kErrorContained = 226,
  kErrorNotFound = 500,
  kErrorIllegalAddress = 700,
  kErrorContextIsDestroyed = 709,
  kErrorHardwareStack = 714,
  kErrorIllegalInstruction = 715,
  kErrorMisalignedAddress = 716,
  kErrorInvalidAddressSpace = 717,
  kErrorInvalidPc = 718,
  kErrorLaunchFailed = 719,
  kErrorStreamCaptureImplicit = 906,
};

enum DeviceAttribute : int {
  kAttributeClockRate = 13,  // kHz
  kAttributeMultiprocessors = 16,
  kAttributeMemoryClockRate = 36,  // kHz
  kAttributeMemoryBusWidth = 37,   // bits
  kAttributeL2Bytes = 38,
  kAttributeCapabilityMajor = 75,
  kAttributeCapabilityMinor = 76,
  kAttributeSharedBytesPerMultiprocessor = 81,
  kAttributeSharedBytesPerBlockOptin = 97,
};

enum FunctionAttribute : int { kAttributeMaxDynamicSharedBytes = 8 };
enum CaptureMode : int { kCaptureThreadLocal = 1, kCaptureRelaxed = 2 };
enum CaptureStatus : int { kCaptureNone = 0 };
enum StreamFlag : unsigned { kStreamNonBlocking = 1 };

// The default streams, as handles: the driver's names for them are small integers.
// NOLINTBEGIN(performance-no-int-to-ptr)
inline const auto kLegacyStream = reinterpret_cast<CUstream>(uintptr_t{1});
inline const auto kPerThreadStream = reinterpret_cast<CUstream>(uintptr_t{2});
// NOLINTEND(performance-no-int-to-ptr)

// CONVOY_CUDA_FUNCTION(member, exported symbol, parameters): what every driver from 12.0 has.
// CONVOY_CUDA_OPTIONAL: null in a driver older than the version in the comment.
// Symbols carry their ABI version, so dlsym gives the one whose parameters stand here.
#define CONVOY_CUDA_TABLE                                                                          \
  CONVOY_CUDA_FUNCTION(init, cuInit, (unsigned))                                                   \
  CONVOY_CUDA_FUNCTION(error_name, cuGetErrorName, (CUresult, const char**))                       \
  CONVOY_CUDA_FUNCTION(device_count, cuDeviceGetCount, (int*))                                     \
  CONVOY_CUDA_FUNCTION(device_get, cuDeviceGet, (CUdevice*, int))                                  \
  CONVOY_CUDA_FUNCTION(device_name, cuDeviceGetName, (char*, int, CUdevice))                       \
  CONVOY_CUDA_FUNCTION(device_memory, cuDeviceTotalMem_v2, (size_t*, CUdevice))                    \
  CONVOY_CUDA_FUNCTION(device_attribute, cuDeviceGetAttribute, (int*, int, CUdevice))              \
  CONVOY_CUDA_FUNCTION(retain_primary, cuDevicePrimaryCtxRetain, (CUcontext*, CUdevice))           \
  CONVOY_CUDA_FUNCTION(current, cuCtxGetCurrent, (CUcontext*))                                     \
  CONVOY_CUDA_FUNCTION(push, cuCtxPushCurrent_v2, (CUcontext))                                     \
  CONVOY_CUDA_FUNCTION(pop, cuCtxPopCurrent_v2, (CUcontext*))                                      \
  CONVOY_CUDA_FUNCTION(allocate, cuMemAlloc_v2, (CUdeviceptr*, size_t))                            \
  CONVOY_CUDA_FUNCTION(free, cuMemFree_v2, (CUdeviceptr))                                          \
  CONVOY_CUDA_FUNCTION(copy_async, cuMemcpyAsync, (CUdeviceptr, CUdeviceptr, size_t, CUstream))    \
  CONVOY_CUDA_FUNCTION(stream_create, cuStreamCreate, (CUstream*, unsigned))                       \
  CONVOY_CUDA_FUNCTION(stream_destroy, cuStreamDestroy_v2, (CUstream))                             \
  CONVOY_CUDA_FUNCTION(stream_synchronize, cuStreamSynchronize, (CUstream))                        \
  CONVOY_CUDA_FUNCTION(begin_capture, cuStreamBeginCapture_v2, (CUstream, int))                    \
  CONVOY_CUDA_FUNCTION(end_capture, cuStreamEndCapture, (CUstream, CUgraph*))                      \
  CONVOY_CUDA_FUNCTION(is_capturing, cuStreamIsCapturing, (CUstream, int*))                        \
  CONVOY_CUDA_FUNCTION(exchange_capture_mode, cuThreadExchangeStreamCaptureMode, (int*))           \
  CONVOY_CUDA_FUNCTION(event_create, cuEventCreate, (CUevent*, unsigned))                          \
  CONVOY_CUDA_FUNCTION(event_destroy, cuEventDestroy_v2, (CUevent))                                \
  CONVOY_CUDA_FUNCTION(event_record, cuEventRecord, (CUevent, CUstream))                           \
  CONVOY_CUDA_FUNCTION(event_synchronize, cuEventSynchronize, (CUevent))                           \
  CONVOY_CUDA_FUNCTION(event_elapsed, cuEventElapsedTime, (float*, CUevent, CUevent))              \
  CONVOY_CUDA_FUNCTION(graph_instantiate, cuGraphInstantiateWithFlags,                             \
                       (CUgraphExec*, CUgraph, unsigned long long))                                \
  CONVOY_CUDA_FUNCTION(graph_launch, cuGraphLaunch, (CUgraphExec, CUstream))                       \
  CONVOY_CUDA_FUNCTION(graph_destroy, cuGraphDestroy, (CUgraph))                                   \
  CONVOY_CUDA_FUNCTION(graph_exec_destroy, cuGraphExecDestroy, (CUgraphExec))                      \
  CONVOY_CUDA_FUNCTION(library_load, cuLibraryLoadData,                                            \
                       (CUlibrary*, const void*, int*, void**, unsigned, int*, void**, unsigned))  \
  CONVOY_CUDA_FUNCTION(library_unload, cuLibraryUnload, (CUlibrary))                               \
  CONVOY_CUDA_FUNCTION(library_kernel, cuLibraryGetKernel, (CUkernel*, CUlibrary, const char*))    \
  CONVOY_CUDA_FUNCTION(kernel_function, cuKernelGetFunction, (CUfunction*, CUkernel))              \
  CONVOY_CUDA_FUNCTION(kernel_attribute, cuKernelGetAttribute, (int*, int, CUkernel, CUdevice))    \
  CONVOY_CUDA_FUNCTION(set_kernel_attribute, cuKernelSetAttribute, (int, int, CUkernel, CUdevice)) \
  CONVOY_CUDA_FUNCTION(launch, cuLaunchKernel,                                                     \
                       (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,    \
                        unsigned, CUstream, void**, void**))                                       \
  CONVOY_CUDA_OPTIONAL(function_load, cuFuncLoad, (CUfunction)) /* 12.4 */                         \
  CONVOY_CUDA_OPTIONAL(kernel_parameter, cuKernelGetParamInfo,  /* 12.4 */                         \
                       (CUkernel, size_t, size_t*, size_t*))

}  // namespace convoy::cuda
