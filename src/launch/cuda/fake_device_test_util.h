// What tests of the CUDA backend share: the fake driver behind driver(), fresh for each test.
#pragma once

#include <convoy/device.h>
#include <gtest/gtest.h>

#include "launch/cuda/fake_driver_test_util.h"

namespace convoy::cuda {

// The state of the library that driver() opens. Must be called before anything else uses CUDA.
FakeDriver& fake_driver_state();

// Starts with an own context of the caller current, and expects it, and nothing else, at the end.
class FakeCuda : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;
  FakeDriver& fake = fake_driver_state();
  CUcontext own = reinterpret_cast<CUcontext>(uintptr_t{0x999});
  Device device;  // cuda:0
};

}  // namespace convoy::cuda
