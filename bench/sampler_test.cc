// Batches, sample counts and the order of calls.
#include "bench/sampler.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace convoy::bench {
namespace {

TEST(PlanSamples, TinyCallsAreBatchedPastTheClock) {
  const SamplePlan plan = plan_samples(0.5, {});
  EXPECT_EQ(plan.calls, 120);
  EXPECT_EQ(plan.samples, 301);
}

TEST(PlanSamples, LongCallsStandAloneAndKeepTheLeastCount) {
  const SamplePlan plan = plan_samples(1e6, {});
  EXPECT_EQ(plan.calls, 1);
  EXPECT_EQ(plan.samples, 9);
}

TEST(PlanSamples, BetweenThemTheBudgetDecides) {
  const SamplePlan plan = plan_samples(3000, {});
  EXPECT_EQ(plan.calls, 1);
  EXPECT_EQ(plan.samples, 50);
}

TEST(TimeCalls, TimesWhatACallTakes) {
  int64_t expected = 0;
  bool in_order = true;
  const auto call = [&](int64_t i) {
    in_order = in_order && i == expected++;
    std::this_thread::sleep_for(std::chrono::microseconds(500));
    return Status();
  };
  const Result<Timing> t = time_calls(call, {.budget_us = 10e3});
  ASSERT_TRUE(t.ok());
  EXPECT_TRUE(in_order);
  EXPECT_GE(t->summary.p10_us, 500);
  EXPECT_GE(t->stream_us, 500);
  EXPECT_GE(t->summary.samples, 9);
}

TEST(TimeCalls, AnErrorOfOneCallIsTheAnswer) {
  const auto call = [](int64_t i) { return i == 1 ? invalid("broken") : Status(); };
  const Result<Timing> t = time_calls(call, {.budget_us = 100});
  ASSERT_FALSE(t.ok());
  EXPECT_EQ(t.status().message(), "broken");
}

TEST(TimeCalls, StopsBetweenSamples) {
  int asked = 0;
  SampleOptions options;
  options.stop = [&] { return ++asked > 2; };
  const Result<Timing> t = time_calls([](int64_t) { return Status(); }, options);
  ASSERT_TRUE(t.ok());
  EXPECT_EQ(t->summary.samples, 2);
}

}  // namespace
}  // namespace convoy::bench
