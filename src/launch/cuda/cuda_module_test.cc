// Modules: loading beside a capture, shared memory, lifetimes, what a launch passes on.
#include <cstring>

#include "launch/cpu/cpu_device.h"
#include "launch/cuda/fake_device_test_util.h"
#include "launch/module.h"

namespace convoy::cuda {
namespace {

constexpr std::byte kImage[16] = {};

class CudaModule : public FakeCuda {
 protected:
  Module load() {
    Result<Module> module = Module::load(device, kImage);
    EXPECT_TRUE(module) << module.status().message();
    return *std::move(module);
  }
};

TEST_F(CudaModule, LoadsUnderARelaxedCaptureMode) {
  const Module module = load();
  EXPECT_EQ(fake.mode_of_load, kCaptureRelaxed);
  EXPECT_EQ(fake.capture_mode, 0);
}

TEST_F(CudaModule, RaisesSharedMemoryOnceAndNeverLowersIt) {
  const Module module = load();
  ASSERT_TRUE(module.function("kernel", 1000));
  EXPECT_EQ(fake.calls["cuKernelSetAttribute"], 0);
  ASSERT_TRUE(module.function("kernel", 100'000));
  EXPECT_EQ(fake.allowed_shared, 100'000);
  ASSERT_TRUE(module.function("kernel", 60'000));
  EXPECT_EQ(fake.allowed_shared, 100'000);
  EXPECT_EQ(fake.calls["cuKernelSetAttribute"], 1);
  EXPECT_EQ(module.function("kernel", -1).status().code(), Code::kInternal);
  const Status absent = module.function("nobody", 0).status();
  EXPECT_EQ(absent.code(), Code::kInternal);
  EXPECT_NE(absent.message().find("nobody"), std::string::npos);
}

TEST_F(CudaModule, IsLoadedOntoTheDeviceBeforeTheFirstLaunch) {
  ASSERT_TRUE(load().function("kernel", 0));
  EXPECT_EQ(fake.calls["cuFuncLoad"], 1);
}

TEST_F(CudaModule, LivesAsLongAsItsFunctions) {
  {
    DeviceFunction function;
    {
      const Module module = load();
      function = *module.function("kernel", 0);
    }
    EXPECT_EQ(fake.live_libraries, 1);
    int64_t args = 0;
    EXPECT_TRUE(function.launch({}, &args, sizeof args, {}).ok());
  }
  EXPECT_EQ(fake.live_libraries, 0);
}

TEST_F(CudaModule, LaunchPassesItsShapeAndArguments) {
  const DeviceFunction function = *load().function("kernel", 0);
  int64_t args = 0x1234;
  int there = 0;
  for (void* handle : {static_cast<void*>(nullptr), static_cast<void*>(&there)}) {
    ASSERT_TRUE(function.launch({2'147'483'647, 256, 99}, &args, sizeof args, {handle}).ok());
    EXPECT_EQ(fake.launched.blocks, 2'147'483'647U);
    EXPECT_EQ(fake.launched.threads, 256U);
    EXPECT_EQ(fake.launched.shared_bytes, 99U);
    EXPECT_EQ(fake.launched.stream, handle);
    EXPECT_NE(fake.launched.context, own) << "runs in the primary context";
    EXPECT_EQ(std::memcmp(fake.launched.args.data(), &args, sizeof args), 0);
  }
  EXPECT_EQ(fake.calls["cuStreamSynchronize"] + fake.calls["cuMemAlloc_v2"], 0);
}

TEST_F(CudaModule, LaunchPushesNothingWhereThePrimaryContextIsCurrent) {
  const DeviceFunction function = *load().function("kernel", 0);
  int64_t args = 0;
  ASSERT_TRUE(function.launch({}, &args, sizeof args, {}).ok());
  fake.contexts.push_back(fake.launched.context);
  const int pushes = fake.calls["cuCtxPushCurrent_v2"];
  ASSERT_TRUE(function.launch({}, &args, sizeof args, {}).ok());
  EXPECT_EQ(fake.calls["cuCtxPushCurrent_v2"], pushes);
  fake.contexts.pop_back();
}

TEST_F(CudaModule, LaunchRefusesWhatTheKernelDoesNotTake) {
  const DeviceFunction function = *load().function("kernel", 0);
  int64_t args[2] = {};
  EXPECT_EQ(function.launch({}, args, sizeof args, {}).code(), Code::kInternal);
  EXPECT_EQ(function.launch({.blocks = 0}, args, 8, {}).code(), Code::kInternal);
  EXPECT_EQ(function.launch({.blocks = 1U << 31}, args, 8, {}).code(), Code::kInternal);
  EXPECT_EQ(DeviceFunction().launch({}, args, 8, {}).code(), Code::kInternal);
  EXPECT_EQ(fake.calls["cuLaunchKernel"], 0);
  fake.failures["cuLaunchKernel"] = kErrorIllegalAddress;
  EXPECT_EQ(function.launch({}, args, 8, {}).code(), Code::kUnavailable);
  fake.failures["cuLaunchKernel"] = kErrorInvalidValue;
  EXPECT_EQ(function.launch({}, args, 8, {}).code(), Code::kInternal);
}

TEST_F(CudaModule, AnImageOfAnotherGpuIsUnavailable) {
  fake.failures["cuLibraryLoadData"] = kErrorNoBinaryForGpu;
  EXPECT_EQ(Module::load(device, kImage).status().code(), Code::kUnavailable);
  EXPECT_EQ(Module::load(*open_cpu({}), kImage).status().code(), Code::kUnsupported);
}

TEST_F(CudaModule, SeesACaptureOfABlockingStream) {
  EXPECT_FALSE(capture_is_running(device));
  EXPECT_FALSE(capture_is_running(*open_cpu({})));
  fake.legacy_status = kErrorStreamCaptureImplicit;
  EXPECT_TRUE(capture_is_running(device));
  fake.legacy_status = 0;
  fake.capturing = true;  // the thread's default stream
  EXPECT_TRUE(capture_is_running(device));
}

}  // namespace
}  // namespace convoy::cuda
