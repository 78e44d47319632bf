// copy(): strides, dtypes and rounding; allocate(); device names.
#include <convoy/convoy.h>
#include <gtest/gtest.h>

#include <cmath>

#include "support/forms.h"
#include "support/storage.h"

namespace convoy {
namespace {

using test::packed_form;
using test::Storage;

TEST(Copy, MovesEveryElementBetweenAnyFormsAndNothingElse) {
  for (uint64_t seed = 0; seed < 500; ++seed) {
    test::Random r(seed);
    Shape shape{.rank = static_cast<int>(r.between(1, 5))};
    for (int i = 0; i < shape.rank; ++i)
      shape.sizes[i] = r.between(1, 5);
    const auto dtype = [&] { return r.pick({DType::kF32, DType::kF16, DType::kBf16}); };
    const Layout layout = shape.rank > 2 ? Layout::kNhwc : Layout::kNchw;
    Storage from(dtype(), shape, test::random_form(r, shape, layout, true));
    Storage to(dtype(), shape, test::random_form(r, shape, layout, false));
    std::vector<double> values(static_cast<size_t>(from.view().elements()));
    for (double& v : values)
      v = static_cast<double>(r.between(-100, 100));
    from.set(values);
    ASSERT_TRUE(copy(from.view(), to.view()).ok());
    ASSERT_EQ(to.values(), from.values()) << seed;
    ASSERT_EQ(to.damage(), "") << seed;
  }
}

TEST(Copy, RoundsToNearestEvenAndKeepsNonFinite) {
  const std::vector<int64_t> sizes = {6};
  float from[6] = {1 + 0x1p-11F, 1 + 3 * 0x1p-11F, 65520, -1e30F, INFINITY, NAN};
  Half to[6];
  ASSERT_TRUE(copy(packed(from, DType::kF32, sizes), packed(to, DType::kF16, sizes)).ok());
  EXPECT_EQ(to[0].value(), 1);
  EXPECT_EQ(to[1].value(), 1 + 0x1p-9);
  EXPECT_EQ(to[2].value(), HUGE_VAL);
  EXPECT_EQ(to[3].value(), -HUGE_VAL);
  EXPECT_EQ(to[4].value(), HUGE_VAL);
  EXPECT_TRUE(std::isnan(to[5].value()));
}

TEST(Copy, ShapesMustAgree) {
  float a[6], b[6];
  const std::vector<int64_t> two = {2, 3}, three = {3, 2};
  const Status s = copy(packed(a, DType::kF32, two), packed(b, DType::kF32, three));
  EXPECT_EQ(s.code(), Code::kInvalid);
  EXPECT_NE(s.message().find("2x3"), std::string::npos);
  EXPECT_NE(s.message().find("3x2"), std::string::npos);
}

TEST(Allocate, GivesAlignedPackedMemory) {
  const std::vector<int64_t> sizes = {2, 3, 4, 5};
  const Result<Tensor> t = allocate(*device(), DType::kBf16, sizes, Layout::kNhwc);
  ASSERT_TRUE(t);
  EXPECT_EQ(t->buffer.bytes(), 240U);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(t->view.data) % 64, 0U);
  EXPECT_EQ(t->view.strides, (std::array<int64_t, 5>{60, 1, 15, 3}));
  EXPECT_EQ(Buffer::allocate(*device(), SIZE_MAX).status().code(), Code::kUnavailable);
}

TEST(DeviceName, IsCpuOrWhatIsNotHere) {
  EXPECT_TRUE(device("cpu"));
  EXPECT_EQ(device("cuda:999").status().code(), Code::kUnavailable);
  EXPECT_EQ(device("cuda:one").status().code(), Code::kInvalid);
  EXPECT_EQ(device("hip").status().code(), Code::kUnavailable);
  EXPECT_EQ(device("tpu").status().code(), Code::kInvalid);
  ASSERT_FALSE(devices().empty());
  EXPECT_EQ(devices().front().info().id, DeviceId{});
}

}  // namespace
}  // namespace convoy
