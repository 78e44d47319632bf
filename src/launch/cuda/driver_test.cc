// The loader: what it says where something is missing; the mapping of errors.
#include "launch/cuda/driver.h"

#include <gtest/gtest.h>

#include "launch/cuda/fake_device_test_util.h"

namespace convoy::cuda {
namespace {

using testing::Test;

void expect_unavailable(const Status& status, std::initializer_list<const char*> words) {
  EXPECT_EQ(status.code(), Code::kUnavailable);
  EXPECT_EQ(status.message().find('\n'), std::string::npos);
  for (const char* word : words)
    EXPECT_NE(status.message().find(word), std::string::npos) << status.message();
}

class Loader : public FakeCuda {};

TEST_F(Loader, NamesWhatIsMissing) {
  expect_unavailable(load_driver("libnone_such.so.1").status(),
                     {"libnone_such.so.1", "install", "--device cpu"});
  expect_unavailable(load_driver("libm.so.6").status(), {"libm.so.6", "version"});
  fake.version = 11080;
  expect_unavailable(load_driver(CONVOY_FAKE_CUDA).status(), {"11.8", "12.0"});
  fake.version = 12000;
  EXPECT_TRUE(load_driver(CONVOY_FAKE_CUDA));
  fake.devices = 0;
  expect_unavailable(load_driver(CONVOY_FAKE_CUDA).status(), {"no NVIDIA GPU"});
  fake.devices = 1;
  fake.failures["cuInit"] = kErrorNoDevice;
  expect_unavailable(load_driver(CONVOY_FAKE_CUDA).status(), {"no NVIDIA GPU"});
  fake.failures["cuInit"] = 803;
  expect_unavailable(load_driver(CONVOY_FAKE_CUDA).status(), {"CUDA_ERROR_803"});
}

TEST_F(Loader, IsOpenedOnce) {
  const int before = fake.calls["cuInit"];
  EXPECT_EQ(&driver(), &driver());
  EXPECT_EQ(fake.calls["cuInit"], before);
}

class Errors : public FakeCuda {};

TEST_F(Errors, SayWhoHasToAct) {
  EXPECT_TRUE(error_status(*driver(), kSuccess, "x").ok());
  expect_unavailable(error_status(*driver(), kErrorOutOfMemory, "x"), {"out of device memory"});
  for (const CUresult lost : {kErrorDeviceUnavailable, kErrorEccUncorrectable, kErrorIllegalAddress,
                              kErrorLaunchFailed, kErrorContextIsDestroyed}) {
    expect_unavailable(error_status(*driver(), lost, "x"), {"lost", "CUDA_ERROR_"});
  }
  for (const CUresult image : {kErrorInvalidImage, kErrorNoBinaryForGpu}) {
    expect_unavailable(error_status(*driver(), image, "x"), {"does not fit"});
  }
  const Status other = error_status(*driver(), kErrorInvalidValue, "doing it");
  EXPECT_EQ(other.code(), Code::kInternal);
  EXPECT_EQ(other.message(), "cuda: doing it: CUDA_ERROR_1");
}

class Context : public FakeCuda {};

TEST_F(Context, IsPushedOnlyWhereItIsNotCurrent) {
  const ScopedContext outer(0);
  ASSERT_TRUE(outer.status().ok());
  EXPECT_EQ(fake.contexts, (std::vector<CUcontext>{own, outer.context()}));
  {
    const ScopedContext inner(0);
    EXPECT_EQ(fake.contexts.size(), 2U);
    const ScopedContext other(1);
    EXPECT_NE(other.context(), outer.context());
    EXPECT_EQ(fake.contexts.size(), 3U);
  }
  EXPECT_EQ(fake.contexts, (std::vector<CUcontext>{own, outer.context()}));
  EXPECT_EQ(fake.retained[0], 1) << "once in the process";
  EXPECT_EQ(fake.retained[1], 1);
}

TEST_F(Context, OfAnIndexThatIsNotThere) {
  expect_unavailable(ScopedContext(2).status(), {"cuda:2", "2 CUDA device(s)"});
  expect_unavailable(ScopedContext(-1).status(), {"cuda:-1"});
  fake.failures["cuCtxPushCurrent_v2"] = kErrorContextIsDestroyed;
  expect_unavailable(ScopedContext(0).status(), {"lost"});
  fake.failures.clear();
  fake.calls.clear();
}

}  // namespace
}  // namespace convoy::cuda
