// When a machine counts as too busy for a record.
#include "bench/noise.h"

#include <gtest/gtest.h>

namespace convoy::bench {
namespace {

const CpuTimes kStart = {.wall_s = 100, .busy_s = 50, .own_s = 5};

TEST(BusySeconds, SumsAllButIdleAndWaiting) {
  EXPECT_EQ(busy_seconds("cpu  100 20 30 9999 8888 4 5 6 0 0", 100), 1.65);
}

TEST(BusySeconds, RefusesOtherText) {
  EXPECT_FALSE(busy_seconds("intr 1 2 3 4 5 6 7 8 9", 100));
  EXPECT_FALSE(busy_seconds("cpu 1 2 3", 100));
  EXPECT_FALSE(busy_seconds("", 100));
}

TEST(JudgeNoise, OwnWorkIsNotNoise) {
  const Noise n = judge_noise(kStart, {110, 70, 25}, 0.3, 2);
  EXPECT_DOUBLE_EQ(n.other_share, 0);
  EXPECT_FALSE(n.noisy);
}

TEST(JudgeNoise, OthersOverFivePercentAre) {
  EXPECT_FALSE(judge_noise(kStart, {110, 70.9, 25}, 0, 2).noisy);  // 0.9 of 20 CPU seconds
  const Noise n = judge_noise(kStart, {110, 72, 25}, 0, 2);        // 2 of 20
  EXPECT_TRUE(n.noisy);
  EXPECT_DOUBLE_EQ(n.other_share, 0.1);
}

TEST(JudgeNoise, AFewTicksOfAShortRunAreNot) {
  EXPECT_FALSE(judge_noise(kStart, {100.1, 50.05, 5}, 0, 2).noisy);
}

TEST(JudgeNoise, AQueueOfProcessesBeforeTheRunIs) {
  EXPECT_TRUE(judge_noise(kStart, {110, 70, 25}, 2.5, 2).noisy);
  EXPECT_FALSE(judge_noise(kStart, {110, 70, 25}, 1.9, 2).noisy);
}

TEST(CpuTimes, ThisProcessIsPartOfTheMachine) {
  const CpuTimes t = cpu_times();
  EXPECT_GT(t.busy_s, 0);
  EXPECT_GE(t.busy_s + 0.1, t.own_s);
}

}  // namespace
}  // namespace convoy::bench
