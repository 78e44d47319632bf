// Loads images and launches their kernels through the driver.
#include "launch/cuda/cuda_module.h"

#include <mutex>

#include "base/str.h"
#include "launch/cuda/driver.h"
#include "launch/module.h"

namespace convoy::cuda {
namespace {

constexpr uint32_t kMostBlocks = (1U << 31) - 1;

class CudaImage final : public LoadedImage, public std::enable_shared_from_this<CudaImage> {
 public:
  CudaImage(int index, CUlibrary library) : index_(index), library_(library) {}
  ~CudaImage() override {
    const ScopedContext scope(index_);
    if (!scope.status().ok()) return;
    const RelaxedCapture relaxed(scope.driver());
    scope.driver().library_unload(library_);
  }
  CudaImage(const CudaImage&) = delete;
  CudaImage& operator=(const CudaImage&) = delete;

  Result<std::shared_ptr<const LoadedFunction>> function(const char* name,
                                                         int64_t shared_bytes) const override;

 private:
  CUresult allow_shared(const Driver& driver, CUkernel kernel, int64_t shared_bytes) const;

  int index_;
  CUlibrary library_;
  mutable std::mutex raising_;
};

class CudaFunction final : public LoadedFunction {
 public:
  // `parameter_bytes`: of the kernel's one parameter, 0 where the driver cannot tell.
  CudaFunction(std::shared_ptr<const CudaImage> image, const Driver& driver, CUcontext context,
               CUkernel kernel, size_t parameter_bytes)
      : image_(std::move(image)),
        driver_(driver),
        context_(context),
        kernel_(reinterpret_cast<CUfunction>(kernel)),
        parameter_bytes_(parameter_bytes) {}

  Status launch(const LaunchShape& shape, const void* args, size_t args_bytes,
                Stream stream) const override {
    if (parameter_bytes_ != 0 && parameter_bytes_ != args_bytes) {
      return internal(str("launch: the kernel takes ", parameter_bytes_,
                          " bytes of arguments, not ", args_bytes));
    }
    if (shape.blocks < 1 || shape.blocks > kMostBlocks) {
      return internal(str("launch: ", shape.blocks, " blocks are not from 1 to 2^31 - 1"));
    }
    // A kernel runs in the context of its stream; a default stream is one of the current context.
    CUcontext now = nullptr;
    const bool away = driver_.current(&now) != kSuccess || now != context_;
    if (away) {
      const CUresult pushed = driver_.push(context_);
      if (pushed != kSuccess) return error_status(driver_, pushed, "launch");
    }
    void* parameters[] = {const_cast<void*>(args)};
    const CUresult result = driver_.launch(kernel_, shape.blocks, 1, 1, shape.threads, 1, 1,
                                           shape.shared_bytes, stream.handle, parameters, nullptr);
    if (away) driver_.pop(&now);
    if (result == kSuccess) return {};
    return error_status(driver_, result,
                        str("launch of ", shape.blocks, " blocks of ", shape.threads,
                            " threads with ", shape.shared_bytes, " bytes of shared memory"));
  }

 private:
  std::shared_ptr<const CudaImage> image_;
  const Driver& driver_;
  CUcontext context_;
  CUfunction kernel_;  // a kernel handle: cuLaunchKernel takes both
  size_t parameter_bytes_;
};

// Raises the limit, never lowers it: plans share an image that the cache keeps.
CUresult CudaImage::allow_shared(const Driver& driver, CUkernel kernel,
                                 int64_t shared_bytes) const {
  const std::scoped_lock lock(raising_);
  CUdevice device = 0;
  int allowed = 0;
  CUresult result = driver.device_get(&device, index_);
  if (result == kSuccess) {
    result = driver.kernel_attribute(&allowed, kAttributeMaxDynamicSharedBytes, kernel, device);
  }
  if (result != kSuccess || shared_bytes <= allowed) return result;
  return driver.set_kernel_attribute(kAttributeMaxDynamicSharedBytes,
                                     static_cast<int>(shared_bytes), kernel, device);
}

Result<std::shared_ptr<const LoadedFunction>> CudaImage::function(const char* name,
                                                                  int64_t shared_bytes) const {
  const ScopedContext scope(index_);
  if (!scope.status().ok()) return scope.status();
  const Driver& driver = scope.driver();
  const RelaxedCapture relaxed(driver);
  CUkernel kernel = nullptr;
  CUresult result = driver.library_kernel(&kernel, library_, name);
  if (result != kSuccess) return error_status(driver, result, str("function ", name));
  if (shared_bytes < 0 || shared_bytes > INT32_MAX) {
    return internal(str("function ", name, ": ", shared_bytes, " bytes of shared memory"));
  }
  result = allow_shared(driver, kernel, shared_bytes);
  if (result != kSuccess) {
    return error_status(driver, result,
                        str("function ", name, " with ", shared_bytes, " bytes of shared memory"));
  }
  // Code goes to the device now: a first launch that loaded it could fall into a capture.
  CUfunction loaded = nullptr;
  result = driver.kernel_function(&loaded, kernel);
  if (result == kSuccess && driver.function_load != nullptr) result = driver.function_load(loaded);
  if (result != kSuccess) return error_status(driver, result, str("function ", name));
  size_t offset = 0, parameter_bytes = 0;
  if (driver.kernel_parameter == nullptr ||
      driver.kernel_parameter(kernel, 0, &offset, &parameter_bytes) != kSuccess) {
    parameter_bytes = 0;
  }
  return std::shared_ptr<const LoadedFunction>(std::make_shared<CudaFunction>(
      shared_from_this(), driver, scope.context(), kernel, parameter_bytes));
}

}  // namespace

Result<std::shared_ptr<const LoadedImage>> load(int index, std::span<const std::byte> image) {
  const ScopedContext scope(index);
  if (!scope.status().ok()) return scope.status();
  const Driver& driver = scope.driver();
  const RelaxedCapture relaxed(driver);
  CUlibrary library = nullptr;
  const CUresult result =
      driver.library_load(&library, image.data(), nullptr, nullptr, 0, nullptr, nullptr, 0);
  if (result != kSuccess) {
    return error_status(driver, result, str("loading code on cuda:", index));
  }
  return std::shared_ptr<const LoadedImage>(std::make_shared<CudaImage>(index, library));
}

bool capture_is_running(int index) {
  const ScopedContext scope(index);
  if (!scope.status().ok()) return false;
  // The legacy stream answers with an error while a blocking stream of the context is capturing,
  // and leaves that capture valid (CUDA driver API, cuStreamIsCapturing).
  int status = kCaptureNone;
  const CUresult result = scope.driver().is_capturing(kLegacyStream, &status);
  if (result == kErrorStreamCaptureImplicit) return true;
  if (result == kSuccess && status != kCaptureNone) return true;
  status = kCaptureNone;
  return scope.driver().is_capturing(kPerThreadStream, &status) == kSuccess &&
         status != kCaptureNone;
}

}  // namespace convoy::cuda
