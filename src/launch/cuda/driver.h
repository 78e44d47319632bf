// The CUDA driver: opened at run time, never linked, and its errors as Status.
#pragma once

#include <convoy/status.h>

#include <string_view>

#include "launch/cuda/cuda_api.h"

namespace convoy::cuda {

struct Driver {
// NOLINTNEXTLINE(bugprone-macro-parentheses): a declarator takes none
#define CONVOY_CUDA_FUNCTION(member, symbol, parameters) CUresult(*member) parameters = nullptr;
#define CONVOY_CUDA_OPTIONAL CONVOY_CUDA_FUNCTION
  CONVOY_CUDA_TABLE
#undef CONVOY_CUDA_OPTIONAL
#undef CONVOY_CUDA_FUNCTION
  int version = 0;  // 1000 * major + 10 * minor
  int devices = 0;  // at least 1
};

// Opens and initialises a driver library. kUnavailable says which is missing: the library, a
// version from 12.0 on, a function, a device. The library stays open for the rest of the process.
Result<Driver> load_driver(const char* library);

// The driver of this process, loaded at the first call; the answer of that call stays.
const Result<Driver>& driver();

// For tests: what driver() opens instead of libcuda.so.1. Call it before the first driver().
void use_driver_library(const char* path);

// "cuda: <doing>: ..." with the driver's name of the error. kUnavailable where the device, its
// memory or a fitting image is missing or lost, else kInternal.
Status error_status(const Driver& driver, CUresult result, std::string_view doing);

// Makes the primary context of a device current while it lives and leaves the caller's context as
// found. The context is retained at the first use of a device, for the rest of the process.
class ScopedContext {
 public:
  explicit ScopedContext(int device);
  ~ScopedContext();
  ScopedContext(const ScopedContext&) = delete;
  ScopedContext& operator=(const ScopedContext&) = delete;
  const Status& status() const { return status_; }
  const Driver& driver() const { return *driver_; }  // where status() is ok
  CUcontext context() const { return context_; }

 private:
  const Driver* driver_ = nullptr;
  CUcontext context_ = nullptr;
  bool pushed_ = false;
  Status status_;
};

// Lets this thread call what a running stream capture would forbid, and leaves the capture whole.
class RelaxedCapture {
 public:
  explicit RelaxedCapture(const Driver& driver);
  ~RelaxedCapture();
  RelaxedCapture(const RelaxedCapture&) = delete;
  RelaxedCapture& operator=(const RelaxedCapture&) = delete;

 private:
  const Driver& driver_;
  int mode_ = kCaptureRelaxed;
};

}  // namespace convoy::cuda
