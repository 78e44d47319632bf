// Limits and verdicts of rows against ceilings that are easy to compute by hand.
#include "bench/row.h"

#include <gtest/gtest.h>

#include <limits>

namespace convoy::bench {
namespace {

// 100 GB/s up to 1 MiB, 10 GB/s from 16 MiB on, 20 GB/s streaming; 1000 GFLOP/s.
Ceilings simple() {
  return {.copy = {{1 << 10, 100}, {1 << 20, 100}, {16 << 20, 10}},
          .copy_streaming_gbs = 20,
          .fma_gflops = 1000,
          .fork_join_us = 2};
}

Row row(Cache cache, int64_t flops, int64_t bytes, double median_us) {
  Row r;
  r.cache = cache;
  r.flops = flops;
  r.bytes = bytes;
  r.median_us = median_us;
  return r;
}

TEST(Judge, WarmBytesUseTheCacheThatHoldsThem) {
  Row r = row(Cache::kWarm, 0, 1'000'000, 20);
  judge(r, DType::kF32, simple());
  EXPECT_NEAR(r.limit_us, 10, 1e-9);  // 1e6 bytes at 100 GB/s
  EXPECT_FALSE(r.by_compute);
  EXPECT_NEAR(r.pct_limit, 50, 1e-9);
  EXPECT_NEAR(r.gbs, 50, 1e-9);
}

TEST(Judge, ColdBytesComeFromMemoryAtTheBetterRate) {
  Row r = row(Cache::kCold, 0, 1'000'000, 100);
  judge(r, DType::kF32, simple());
  EXPECT_NEAR(r.limit_us, 50, 1e-9);  // 20 GB/s: streaming beats 10
}

TEST(Judge, ComputeBoundRowsSaySo) {
  Row r = row(Cache::kWarm, 100'000'000, 1000, 200);
  judge(r, DType::kF32, simple());
  EXPECT_NEAR(r.limit_us, 100, 1e-9);
  EXPECT_TRUE(r.by_compute);
  EXPECT_NEAR(r.tflops, 0.5, 1e-9);
}

TEST(Judge, LaunchBoundIsUnderFourForkJoins) {
  Row fast = row(Cache::kWarm, 1, 1, 7.9), slow = row(Cache::kWarm, 1, 1, 8.1);
  judge(fast, DType::kF32, simple());
  judge(slow, DType::kF32, simple());
  EXPECT_TRUE(fast.launch_bound);
  EXPECT_FALSE(slow.launch_bound);
}

TEST(Passed, OnlyWordsThatStartWithOk) {
  Row r;
  r.check = "ok";
  EXPECT_TRUE(passed(r));
  r.check = "ok: samples 0 and 31 of 32";
  EXPECT_TRUE(passed(r));
  r.check = "failed: max_abs_err 3";
  EXPECT_FALSE(passed(r));
  r.check = "";
  EXPECT_FALSE(passed(r));
}

TEST(SortWorstFirst, RowsWithoutATimeLead) {
  std::vector<Row> rows(3);
  rows[0].pct_limit = 90;
  rows[1].pct_limit = 10;
  rows[2].pct_limit = std::numeric_limits<double>::quiet_NaN();
  sort_worst_first(rows);
  EXPECT_NE(rows[0].pct_limit, rows[0].pct_limit);
  EXPECT_EQ(rows[1].pct_limit, 10);
  EXPECT_EQ(rows[2].pct_limit, 90);
}

TEST(CopyGbs, NeverBelowTheStreamingRate) {
  EXPECT_DOUBLE_EQ(simple().copy_gbs(1), 100);
  EXPECT_DOUBLE_EQ(simple().copy_gbs(4 << 20), 55);  // half way over the logarithm
  EXPECT_DOUBLE_EQ(simple().copy_gbs(16 << 20), 20);
  EXPECT_DOUBLE_EQ(simple().copy_gbs(1 << 30), 20);
}

}  // namespace
}  // namespace convoy::bench
