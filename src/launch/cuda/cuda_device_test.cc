// A GPU as a device: its facts, its planning figures, its memory, and its timer.
#include "launch/cuda/cuda_device.h"

#include <cstring>

#include "launch/cuda/fake_device_test_util.h"
#include "launch/timer.h"

namespace convoy::cuda {
namespace {

class CudaDevice : public FakeCuda {};

TEST_F(CudaDevice, TellsWhatKernelsPlanOn) {
  const DeviceInfo info = open_device(1, {.index_limit = 77})->info();
  EXPECT_EQ(info.id, (DeviceId{Backend::kCuda, 1}));
  EXPECT_EQ(info.name, "Fake GPU 1");
  EXPECT_EQ(info.arch, "sm_90");
  EXPECT_EQ(info.memory_bytes, int64_t{1} << 37);
  EXPECT_EQ(info.l2_bytes, 60 << 20);
  EXPECT_EQ(info.multiprocessors, 132);
  EXPECT_EQ(info.shared_bytes_per_block, 232'448);
  EXPECT_EQ(info.shared_bytes_per_multiprocessor, 233'472);
  EXPECT_DOUBLE_EQ(info.clock_mhz, 1980);
  EXPECT_EQ(info.index_limit, 77);
  EXPECT_FALSE(info.measured);
  EXPECT_EQ(fake.calls["cuCtxPushCurrent_v2"], 0) << "listing a device makes no context current";
}

TEST_F(CudaDevice, IsUnavailableBeyondTheCount) {
  const Status status = open_device(2, {}).status();
  EXPECT_EQ(status.code(), Code::kUnavailable);
  EXPECT_NE(status.message().find("2 CUDA device(s)"), std::string::npos) << status.message();
}

TEST_F(CudaDevice, PlansWithTheFiguresOfAnH200) {
  const Ceilings c = device.info().ceilings;
  EXPECT_NEAR(limit(0, 512'000'000, DType::kF16, c).us, 124, 0.2);
  EXPECT_NEAR(limit(0, 200'000, DType::kF16, c).us, 1.63, 0.01);
  EXPECT_NEAR(limit(800'000'000'000, 1, DType::kF16, c).us, 1000, 1);
  EXPECT_NEAR(limit(800'000'000'000, 1, DType::kBf16, c).us, 1000, 1);
  EXPECT_NEAR(limit(400'000'000'000, 1, DType::kTf32, c).us, 1000, 1);
  EXPECT_NEAR(limit(60'000'000'000, 1, DType::kF32, c).us, 1000, 1);
  EXPECT_DOUBLE_EQ(c.fork_join_us, 0.5);
}

TEST_F(CudaDevice, ScalesThemToOtherGpus) {
  const Ceilings h200 = default_ceilings({});
  const Ceilings a100 = default_ceilings({80, 108, 1410, 1555});
  EXPECT_NEAR(a100.copy_gbs(512'000'000) / h200.copy_gbs(512'000'000), 1555 / 4917.0, 1e-9);
  EXPECT_LT(a100.matrix_gflops, h200.matrix_gflops / 2);
  EXPECT_GT(a100.matrix_tf32_gflops, 0);
  EXPECT_EQ(default_ceilings({70, 80, 1530, 900}).matrix_tf32_gflops, 0);
  fake.attributes[kAttributeMemoryBusWidth] = 0;
  EXPECT_DOUBLE_EQ(open_device(0, {})->info().ceilings.copy_gbs(1 << 30), h200.copy_gbs(1 << 30));
}

TEST_F(CudaDevice, MemoryIsFreedWithItsLastOwner) {
  {
    const Result<Buffer> buffer = Buffer::allocate(device, 100);
    ASSERT_TRUE(buffer);
    const Buffer copy = *buffer;
    EXPECT_TRUE(Buffer::allocate(device, 0));
    EXPECT_EQ(fake.live_memory, 1);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(copy.data()) % 64, 0U);
  }
  EXPECT_EQ(fake.live_memory, 0);
  fake.failures["cuMemAlloc_v2"] = kErrorOutOfMemory;
  const Status full = Buffer::allocate(device, 12345).status();
  EXPECT_EQ(full.code(), Code::kUnavailable);
  EXPECT_NE(full.message().find("out of device memory"), std::string::npos) << full.message();
  EXPECT_NE(full.message().find("12345"), std::string::npos);
}

TEST_F(CudaDevice, CopiesWaitOnTheDefaultStreamOnly) {
  const Result<Buffer> buffer = Buffer::allocate(device, 4);
  int value = 42, back = 0;
  EXPECT_TRUE(copy_bytes(device, buffer->data(), &value, 4).ok());
  EXPECT_EQ(fake.calls["cuStreamSynchronize"], 1);
  EXPECT_TRUE(copy_bytes(device, &back, buffer->data(), 4, {&value}).ok());
  EXPECT_EQ(fake.calls["cuStreamSynchronize"], 1);
  EXPECT_EQ(back, 42);
  fake.failures["cuStreamSynchronize"] = kErrorIllegalAddress;
  EXPECT_EQ(synchronize(device).code(), Code::kUnavailable);
}

class CudaGraphTimer : public FakeCuda {};

TEST_F(CudaGraphTimer, TimesReplaysAndFreesAll) {
  {
    Result<GraphTimer> timer = GraphTimer::create(device);
    ASSERT_TRUE(timer) << timer.status().message();
    EXPECT_FALSE(timer->replay_us()) << "nothing was captured";
    for (const int64_t calls : {3, 5}) {
      std::vector<int64_t> seen;
      const Status captured = timer->capture(calls, [&](Stream stream, int64_t i) {
        EXPECT_EQ(stream.handle, timer->stream().handle);
        EXPECT_TRUE(fake.capturing);
        seen.push_back(i);
        return Status();
      });
      ASSERT_TRUE(captured.ok()) << captured.message();
      EXPECT_EQ(seen.size(), static_cast<size_t>(calls));
      EXPECT_DOUBLE_EQ(*timer->replay_us(), 2000);
    }
    EXPECT_EQ(fake.calls["cuGraphLaunch"], 2);
    EXPECT_EQ(fake.live_graphs, 1) << "the second capture replaced the first";
    EXPECT_DOUBLE_EQ(*timer->stream_us([](Stream) { return Status(); }), 2000);
  }
  EXPECT_EQ(fake.live_graphs + fake.live_events + fake.live_streams, 0);
}

TEST_F(CudaGraphTimer, EndsACaptureThatFails) {
  Result<GraphTimer> timer = GraphTimer::create(device);
  ASSERT_TRUE(timer);
  const Status failed =
      timer->capture(2, [](Stream, int64_t) { return invalid("this call fails"); });
  EXPECT_EQ(failed.message(), "this call fails");
  EXPECT_FALSE(fake.capturing);
  EXPECT_EQ(fake.live_graphs, 0);
  EXPECT_FALSE(timer->replay_us());
}

TEST_F(CudaGraphTimer, LeavesNothingWhereItCannotStart) {
  fake.failures["cuEventCreate"] = kErrorOutOfMemory;
  EXPECT_EQ(GraphTimer::create(device).status().code(), Code::kUnavailable);
  EXPECT_EQ(fake.live_streams, 0);
}

TEST_F(CudaDevice, CalibratesItsCopies) {
  fake.elapsed_ms = 1;
  const Result<Ceilings> measured = calibrate(device);
  ASSERT_TRUE(measured) << measured.status().message();
  EXPECT_EQ(measured->copy.size(), 11U);
  EXPECT_GT(measured->copy.front().gbs, 0);
  EXPECT_EQ(measured->matrix_gflops, device.info().ceilings.matrix_gflops);
  EXPECT_EQ(fake.live_memory + fake.live_graphs + fake.live_streams, 0);
}

}  // namespace
}  // namespace convoy::cuda
