// What the harness measures: every pass, checked, warm and cold, with tuning and forced kernels.
#include "bench/measure.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace convoy::bench {
namespace {

constexpr int64_t kCold = 1 << 18;

TEST(Harness, EveryPassHasCheckedWarmAndColdRows) {
  Harness harness(*device(), kCold);
  for (const char* text :
       {"conv1d fprop bf16 n1 c6 k12 g3 w9 s3 pad1", "conv2d dgrad f16 n1 c4 k4 h5 w5 r3 s3 nhwc",
        "conv3d wgrad f32 n2 c4 k4 g4 d3 h4 w5 t1 r3 s3 pad0x1x1 bias"}) {
    const auto rows = harness.measure(*parse_problem(text), "", {});
    ASSERT_TRUE(rows.ok()) << text;
    std::set<std::pair<Cache, std::string>> seen;
    for (const Row& row : *rows) {
      EXPECT_EQ(row.check, "ok") << text;
      EXPECT_EQ(row.problem, text);
      EXPECT_GT(row.median_us, 0);
      EXPECT_GT(row.stream_us, 0);
      seen.insert({row.cache, row.impl});
    }
    EXPECT_EQ(seen.size(), rows->size());
    EXPECT_TRUE(seen.count({Cache::kWarm, "convoy"}) == 1);
    EXPECT_TRUE(seen.count({Cache::kCold, "convoy"}) == 1);
  }
}

TEST(Harness, AnEmptyBatchIsMeasuredToo) {
  Harness harness(*device(), kCold);
  const auto rows =
      harness.measure(*parse_problem("conv2d fprop f32 n0 c4 k4 g4 h6 w6 r3 s3"), "", {});
  ASSERT_TRUE(rows.ok());
  EXPECT_EQ(rows->front().flops, 0);
}

TEST(Harness, AnUnknownKernelIsAnError) {
  Harness harness(*device(), kCold);
  const auto rows = harness.measure(*parse_problem("conv1d fprop f32 n1 c2 k2 w5 s3"), "",
                                    {.plan = {.kernel = "no_such_kernel"}});
  ASSERT_FALSE(rows.ok());
  EXPECT_EQ(rows.status().code(), Code::kInvalid);
}

TEST(Harness, TuningTimesEveryCandidateAndKeepsTheFastest) {
  Harness harness(*device(), kCold);
  const ConvProblem problem = *parse_problem("conv2d fprop f32 n1 c8 k8 g8 h9 w9 r3 s3 nhwc");
  size_t accepted = 0;
  const Plan chosen = *plan(problem, *device());
  for (const Candidate& c : chosen.explain().candidates)
    accepted += c.verdict == Verdict::kDeclined ? 0 : 1;
  const auto rows = harness.measure(problem, "", {.tune = true});
  ASSERT_TRUE(rows.ok());
  const Row& row = rows->front();
  EXPECT_EQ(row.impl, "convoy+tune");
  ASSERT_EQ(row.algorithms.size(), accepted);
  double best = HUGE_VAL;
  std::string winner;
  for (const Algorithm& a : row.algorithms) {
    if (a.median_us >= best) continue;
    best = a.median_us;
    winner = a.name;
  }
  EXPECT_EQ(row.kernel, winner);
}

TEST(OperandSets, RotateOverDistinctMemoryWithEqualValues) {
  const Device cpu = *device();
  Slab slab(cpu);
  const ConvProblem p = *parse_problem("conv1d fprop f32 n1 c2 k2 w5 s3");
  const auto sets = make_sets(p, 4096, 2, slab);
  ASSERT_TRUE(sets.ok());
  EXPECT_GE(sets->count * sets->set_bytes, 4096);
  RunArgs args = sets->first;
  sets->select(1, args);
  EXPECT_EQ(static_cast<std::byte*>(args.x.data) - static_cast<std::byte*>(sets->first.x.data),
            sets->set_bytes);
  EXPECT_EQ(static_cast<float*>(args.x.data)[3], static_cast<float*>(sets->first.x.data)[3]);
  EXPECT_TRUE(std::isnan(static_cast<float*>(args.y.data)[0]));
  sets->select(sets->count, args);
  EXPECT_EQ(args.x.data, sets->first.x.data);
}

TEST(Slab, RefusesMoreThanHalfOfTheMemory) {
  const Device cpu = *device();
  Slab slab(cpu);
  const auto memory = slab.reserve(cpu.info().memory_bytes);
  ASSERT_FALSE(memory.ok());
  EXPECT_EQ(memory.status().code(), Code::kUnavailable);
}

}  // namespace
}  // namespace convoy::bench
