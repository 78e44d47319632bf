// Operand sets filled by copies, and how many calls a graph holds; in CPU memory.
#include "bench/device_sets.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "bench/graph_sampler.h"
#include "bench/row.h"

namespace convoy::bench {
namespace {

TEST(DeviceSets, HoldTheSameValuesAndNaNOutputs) {
  const Device host = *device();
  Slab slab(host);
  Pools pools(host);
  const ConvProblem p = *parse_problem("conv2d fprop f32 n2 c8 k8 g8 h9 w9 r3 s3 nhwc bias");
  const auto sets = make_device_sets(p, host, 1 << 20, 5, slab, pools);
  ASSERT_TRUE(sets.ok());
  EXPECT_EQ(sets->count, 5);
  const auto* x = static_cast<const float*>(sets->first.x.data);
  const auto* w = static_cast<const float*>(sets->first.w.data);
  const auto* y = static_cast<const float*>(sets->first.y.data);
  EXPECT_NE(x[0], w[0]);
  for (int64_t i = 0; i < sets->first.x.elements(); ++i)
    ASSERT_TRUE(std::isfinite(x[i]));
  for (int64_t i = 0; i < sets->first.y.elements(); ++i)
    ASSERT_TRUE(std::isnan(y[i]));
  const auto* all = reinterpret_cast<const std::byte*>(x);
  for (int64_t i = 1; i < sets->count; ++i)
    EXPECT_EQ(std::memcmp(all, all + i * sets->set_bytes, static_cast<size_t>(sets->set_bytes)), 0);
}

// Operands longer than the pool repeat it with an odd period.
TEST(DeviceSets, LongOperandsRepeatThePool) {
  const Device host = *device();
  Pools pools(host);
  const Result<Buffer> memory = Buffer::allocate(host, 12 << 20);
  ASSERT_TRUE(memory.ok());
  auto* const at = static_cast<std::byte*>(memory->data());
  ASSERT_TRUE(pools.fill_normal(DType::kF32, at, 12 << 20, 0).ok());
  const auto* values = reinterpret_cast<const float*>(at);
  constexpr int64_t kPeriod = 1'048'573;
  for (int64_t i = 0; i + kPeriod < (12 << 20) / 4; i += 1001)
    ASSERT_EQ(values[i], values[i + kPeriod]);
  EXPECT_NE(values[0], values[1]);
}

TEST(GraphSampler, GraphsHoldTwentyCallsUnlessTheseAreLong) {
  EXPECT_EQ(calls_of(100), 20);
  EXPECT_EQ(calls_of(2), 200);
  EXPECT_EQ(calls_of(5000), 4);
  EXPECT_EQ(calls_of(1e6), 2);
}

TEST(Row, AMeasuredCopyBoundsTheRow) {
  Row row{.median_us = 10, .flops = 1000, .bytes = 1000};
  Ceilings ceilings{.copy = {{1000, 1.0}}, .fma_gflops = 1e6};
  judge(row, DType::kF32, ceilings, 5.0);
  EXPECT_EQ(row.limit_us, 5.0);
  EXPECT_EQ(row.pct_limit, 50.0);
  EXPECT_FALSE(row.by_compute);
  row.flops = 20'000'000'000;
  judge(row, DType::kF32, ceilings, 5.0);
  EXPECT_EQ(row.limit_us, 20.0);
  EXPECT_TRUE(row.by_compute);
}

}  // namespace
}  // namespace convoy::bench
