// Opens libcuda and fills the table of its functions.
#include "launch/cuda/driver.h"

#include <dlfcn.h>

#include <memory>
#include <mutex>

#include "base/str.h"

namespace convoy::cuda {
namespace {

constexpr int kLeastVersion = 12000;
const char* library_path = "libcuda.so.1";

std::string version_text(int version) {
  return str(version / 1000, ".", version % 1000 / 10);
}

template <class Function>
bool find(void* library, const char* symbol, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, symbol));
  return function != nullptr;
}

// The first function that the library lacks; null where it has all.
const char* fill(void* library, Driver& driver) {
  const char* missing = nullptr;
#define CONVOY_CUDA_FUNCTION(member, symbol, parameters) \
  if (!find(library, #symbol, driver.member) && missing == nullptr) missing = #symbol;
#define CONVOY_CUDA_OPTIONAL(member, symbol, parameters) find(library, #symbol, driver.member);
  CONVOY_CUDA_TABLE
#undef CONVOY_CUDA_OPTIONAL
#undef CONVOY_CUDA_FUNCTION
  return missing;
}

Status no_device() {
  return unavailable(
      "device cuda: the driver finds no NVIDIA GPU, or CUDA_VISIBLE_DEVICES hides it; attach one "
      "or use --device cpu");
}

bool means_lost(CUresult result) {
  switch (result) {
    case kErrorNotInitialized:
    case kErrorDeinitialized:
    case kErrorDeviceUnavailable:
    case kErrorEccUncorrectable:
    case kErrorContained:
    case kErrorIllegalAddress:
    case kErrorContextIsDestroyed:
    case kErrorHardwareStack:
    case kErrorIllegalInstruction:
    case kErrorMisalignedAddress:
    case kErrorInvalidAddressSpace:
    case kErrorInvalidPc:
    case kErrorLaunchFailed:
      return true;
    default:
      return false;
  }
}

std::string error_text(const Driver& driver, CUresult result) {
  const char* text = nullptr;
  if (driver.error_name(result, &text) != kSuccess || text == nullptr) {
    return str("CUDA error ", result);
  }
  return text;
}

// The primary context of one device, retained once.
struct Primary {
  std::once_flag once;
  CUcontext context = nullptr;
  Status status;
};

Primary& primary_of(const Driver& driver, int device) {
  static const std::unique_ptr<Primary[]> kAll(new Primary[static_cast<size_t>(driver.devices)]);
  Primary& primary = kAll[static_cast<size_t>(device)];
  std::call_once(primary.once, [&] {
    const RelaxedCapture relaxed(driver);
    CUdevice handle = 0;
    CUresult result = driver.device_get(&handle, device);
    if (result == kSuccess) result = driver.retain_primary(&primary.context, handle);
    primary.status = error_status(driver, result, str("context of cuda:", device));
  });
  return primary;
}

}  // namespace

Result<Driver> load_driver(const char* library) {
  void* const handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    return unavailable(str("device cuda: ", library,
                           " cannot be opened; install the NVIDIA driver or use --device cpu"));
  }
  CUresult (*get_version)(int*) = nullptr;
  Driver driver;
  if (!find(handle, "cuDriverGetVersion", get_version) || get_version(&driver.version) != 0) {
    return unavailable(str("device cuda: ", library,
                           " does not tell its version; install the NVIDIA driver again"));
  }
  if (driver.version < kLeastVersion) {
    return unavailable(str("device cuda: the driver supports CUDA ", version_text(driver.version),
                           ", Convoy needs ", version_text(kLeastVersion),
                           "; install a newer NVIDIA driver or use --device cpu"));
  }
  if (const char* missing = fill(handle, driver); missing != nullptr) {
    return unavailable(str("device cuda: ", library, " for CUDA ", version_text(driver.version),
                           " lacks ", missing, "; install the NVIDIA driver again"));
  }
  CUresult result = driver.init(0);
  if (result == kErrorNoDevice) return no_device();
  if (result == kSuccess) result = driver.device_count(&driver.devices);
  if (result != kSuccess) {
    return unavailable(str("device cuda: the driver does not start: ", error_text(driver, result),
                           "; see nvidia-smi or use --device cpu"));
  }
  if (driver.devices < 1) return no_device();
  return driver;
}

const Result<Driver>& driver() {
  static const Result<Driver> kOnce = load_driver(library_path);
  return kOnce;
}

void use_driver_library(const char* path) {
  library_path = path;
}

Status error_status(const Driver& driver, CUresult result, std::string_view doing) {
  if (result == kSuccess) return {};
  const std::string what = str("cuda: ", doing, ": ");
  const std::string name = error_text(driver, result);
  if (result == kErrorOutOfMemory) {
    return unavailable(str(what, "out of device memory; use a smaller problem"));
  }
  if (means_lost(result)) {
    return unavailable(str(what, "the device is lost (", name, "); start the process again"));
  }
  if (result == kErrorNoDevice || result == kErrorInvalidDevice || result == kErrorStubLibrary) {
    return unavailable(str(what, "no such device (", name, "); see `convoy devices`"));
  }
  if (result == kErrorInvalidImage || result == kErrorNoBinaryForGpu ||
      result == kErrorUnsupportedPtxVersion) {
    return unavailable(str(what, "the code does not fit this GPU or driver (", name,
                           "); clear the cache with `convoy cache clear`"));
  }
  return internal(str(what, name));
}

ScopedContext::ScopedContext(int device) {
  const Result<Driver>& loaded = cuda::driver();
  if (!loaded) {
    status_ = loaded.status();
    return;
  }
  driver_ = &*loaded;
  if (device < 0 || device >= driver_->devices) {
    status_ = unavailable(str("device cuda:", device, ": this machine has ", driver_->devices,
                              " CUDA device(s), counted from 0; use a smaller index"));
    return;
  }
  Primary& primary = primary_of(*driver_, device);
  status_ = primary.status;
  if (!status_.ok()) return;
  context_ = primary.context;
  CUcontext now = nullptr;
  if (driver_->current(&now) == kSuccess && now == context_) return;
  const CUresult result = driver_->push(context_);
  pushed_ = result == kSuccess;
  status_ = error_status(*driver_, result, str("context of cuda:", device));
}

ScopedContext::~ScopedContext() {
  CUcontext popped = nullptr;
  if (pushed_) driver_->pop(&popped);
}

RelaxedCapture::RelaxedCapture(const Driver& driver) : driver_(driver) {
  driver_.exchange_capture_mode(&mode_);
}

RelaxedCapture::~RelaxedCapture() {
  driver_.exchange_capture_mode(&mode_);
}

}  // namespace convoy::cuda
