// A CUDA driver for tests: device memory is host memory, and every call is recorded.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "launch/cuda/cuda_api.h"

namespace convoy::cuda {

struct FakeLaunch {
  unsigned blocks = 0, threads = 0, shared_bytes = 0;
  CUstream stream = nullptr;
  CUcontext context = nullptr;
  std::vector<std::byte> args;
};

struct FakeDriver {
  int version = 12040, devices = 2;
  std::map<std::string, int> failures;  // what a function returns instead of working
  std::map<std::string, int> calls;
  std::map<int, int> attributes = {{kAttributeClockRate, 1'980'000},
                                   {kAttributeMultiprocessors, 132},
                                   {kAttributeMemoryClockRate, 3'201'000},
                                   {kAttributeMemoryBusWidth, 6144},
                                   {kAttributeL2Bytes, 60 << 20},
                                   {kAttributeCapabilityMajor, 9},
                                   {kAttributeCapabilityMinor, 0},
                                   {kAttributeSharedBytesPerMultiprocessor, 233'472},
                                   {kAttributeSharedBytesPerBlockOptin, 232'448}};
  int retained[2] = {0, 0};
  std::vector<CUcontext> contexts;  // the stack of the one thread that tests use
  int capture_mode = 0;             // of the thread; 0: global
  int mode_of_load = 0;             // the capture mode that cuLibraryLoadData saw
  int legacy_status = 0;            // what cuStreamIsCapturing answers for the legacy stream
  bool capturing = false;
  int live_memory = 0, live_libraries = 0, live_streams = 0, live_events = 0, live_graphs = 0;
  int allowed_shared = 48 << 10;
  size_t parameter_bytes = 8;
  FakeLaunch launched;
  float elapsed_ms = 2;
};

// The library exports "fake_driver": FakeDriver* (*)().

}  // namespace convoy::cuda
