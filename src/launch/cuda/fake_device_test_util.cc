// Opens the fake driver by the path that the build gives.
#include "launch/cuda/fake_device_test_util.h"

#include <dlfcn.h>

#include "launch/cuda/cuda_device.h"
#include "launch/cuda/driver.h"

namespace convoy::cuda {

FakeDriver& fake_driver_state() {
  static FakeDriver* const kState = [] {
    use_driver_library(CONVOY_FAKE_CUDA);
    void* const library = dlopen(CONVOY_FAKE_CUDA, RTLD_NOW | RTLD_LOCAL);
    return reinterpret_cast<FakeDriver* (*)()>(dlsym(library, "fake_driver"))();
  }();
  return *kState;
}

void FakeCuda::SetUp() {
  ASSERT_TRUE(driver()) << driver().status().message();
  const int retained[] = {fake.retained[0], fake.retained[1]};
  fake = FakeDriver();
  fake.retained[0] = retained[0];
  fake.retained[1] = retained[1];
  fake.contexts = {own};
  const Result<Device> opened = open_device(0, {});
  ASSERT_TRUE(opened) << opened.status().message();
  device = *opened;
}

void FakeCuda::TearDown() {
  EXPECT_EQ(fake.contexts, std::vector<CUcontext>{own});
  EXPECT_EQ(fake.capture_mode, 0);
  EXPECT_EQ(fake.calls["cuCtxPushCurrent_v2"], fake.calls["cuCtxPopCurrent_v2"]);
}

}  // namespace convoy::cuda
