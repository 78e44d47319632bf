// Tensors on a GPU, over the fake driver, whose device memory is host memory.
#include <convoy/convoy.h>

#include "jit/options.h"
#include "launch/cuda/fake_device_test_util.h"
#include "support/forms.h"
#include "support/problems.h"
#include "support/storage.h"

namespace convoy {
namespace {

using test::Storage;

class DeviceTensors : public cuda::FakeCuda {};

TensorView on_gpu(TensorView view, int index = 0) {
  view.device = {Backend::kCuda, index};
  return view;
}

TEST_F(DeviceTensors, CopyMovesEveryElementAndNothingElse) {
  for (uint64_t seed = 0; seed < 600; ++seed) {
    test::Random r(seed);
    Shape shape{.rank = static_cast<int>(r.between(1, 5))};
    for (int i = 0; i < shape.rank; ++i)
      shape.sizes[i] = r.between(1, 5);
    const auto dtype = [&] { return r.pick({DType::kF32, DType::kF16, DType::kBf16}); };
    const Layout layout = shape.rank > 2 ? Layout::kNhwc : Layout::kNchw;
    const auto form = [&](bool repeats) {
      return r.between(0, 2) == 0 ? test::packed_form(shape, layout)
                                  : test::random_form(r, shape, layout, repeats);
    };
    Storage from(dtype(), shape, form(true)), to(dtype(), shape, form(false));
    std::vector<double> values(static_cast<size_t>(from.view().elements()));
    for (double& v : values)
      v = static_cast<double>(r.between(-100, 100));
    from.set(values);
    const int64_t where = r.between(0, 3);
    const TensorView source = where == 0 ? from.view() : on_gpu(from.view());
    const TensorView target = where == 1 ? to.view() : on_gpu(to.view(), where == 3 ? 1 : 0);
    const Status copied = copy(source, target);
    ASSERT_TRUE(copied.ok()) << copied.message();
    ASSERT_EQ(to.values(), from.values()) << seed;
    ASSERT_EQ(to.damage(), "") << seed;
  }
  EXPECT_GT(fake.calls["cuMemcpyAsync"], 600);
}

TEST_F(DeviceTensors, PlainCopiesAreOneTransfer) {
  const std::vector<int64_t> sizes = {2, 3, 4, 5};
  const Result<Tensor> there = allocate(device, DType::kF16, sizes, Layout::kNhwc);
  const Result<Tensor> here = allocate(*convoy::device(), DType::kF16, sizes, Layout::kNhwc);
  ASSERT_TRUE(there);
  EXPECT_EQ(there->view.device, device.info().id);
  ASSERT_TRUE(copy(here->view, there->view).ok());
  ASSERT_TRUE(copy(there->view, here->view).ok());
  EXPECT_EQ(fake.calls["cuMemcpyAsync"], 2);
}

TEST_F(DeviceTensors, CopyTellsWhatTheDeviceSays) {
  float values[4] = {};
  const TensorView here = packed(values, DType::kF32, std::vector<int64_t>{4});
  EXPECT_EQ(copy(here, on_gpu(here, 7)).code(), Code::kUnavailable);
  TensorView elsewhere = here;
  elsewhere.device = {Backend::kHip, 0};
  EXPECT_EQ(copy(here, elsewhere).code(), Code::kUnavailable);
  fake.failures["cuMemcpyAsync"] = cuda::kErrorIllegalAddress;
  EXPECT_EQ(copy(here, on_gpu(here)).code(), Code::kUnavailable);
}

// The fake driver runs no judge, so there must be no compiler for one.
TEST_F(DeviceTensors, CheckJudgesOperandsOfTheGpu) {
  const JitOptions before = jit_options();
  configure_jit({.nvrtc = "/nowhere"});
  const ConvProblem p = *parse_problem("conv2d fprop f32 n1 c2 k2 g2 h2 w2 r1 s1");
  float x[8] = {1, 2, 3, 4, 5, 6, 7, 8}, w[2] = {2, 3}, y[8] = {2, 4, 6, 8, 15, 18, 21, 24};
  const auto view = [](float* data, const Shape& shape) {
    return on_gpu(packed(data, DType::kF32, shape.span()));
  };
  const RunArgs args{.x = view(x, x_shape(p)), .w = view(w, w_shape(p)), .y = view(y, y_shape(p))};
  EXPECT_TRUE(check(p, args, device)->ok);
  EXPECT_EQ(fake.calls["cuMemcpyAsync"], 3);
  y[7] = 25;
  EXPECT_FALSE(check(p, args, device)->ok);
  fake.failures["cuMemcpyAsync"] = cuda::kErrorLaunchFailed;
  EXPECT_EQ(check(p, args, device).status().code(), Code::kUnavailable);
  configure_jit(before);
}

TEST_F(DeviceTensors, DevicesAreNamedByIndex) {
  EXPECT_EQ(convoy::device("cuda")->info().id, (DeviceId{Backend::kCuda, 0}));
  EXPECT_EQ(convoy::device("cuda:1")->info().id, (DeviceId{Backend::kCuda, 1}));
  EXPECT_EQ(convoy::device("cuda:2").status().code(), Code::kUnavailable);
  for (const char* bad : {"cuda:", "cuda:x", "cuda:-1", "cuda:-0", "cuda:1x", "cuda:99999999999",
                          "cuda0", "cpu:0", "CUDA"}) {
    EXPECT_EQ(convoy::device(bad).status().code(), Code::kInvalid) << bad;
  }
  const std::vector<Device> all = devices();
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].info().id.backend, Backend::kCpu);
  EXPECT_EQ(all[2].info().id, (DeviceId{Backend::kCuda, 1}));
  EXPECT_EQ(tier_devices(all[1]).size(), 1U);
}

}  // namespace
}  // namespace convoy
