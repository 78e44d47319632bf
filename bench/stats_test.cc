// Order statistics on samples whose answers are known.
#include "bench/stats.h"

#include <gtest/gtest.h>

#include <cmath>

namespace convoy::bench {
namespace {

TEST(Percentile, InterpolatesBetweenNeighbours) {
  EXPECT_DOUBLE_EQ(percentile({4, 1, 3, 2}, 0.5), 2.5);
  EXPECT_DOUBLE_EQ(percentile({3, 1, 2}, 0.5), 2);
  EXPECT_DOUBLE_EQ(percentile({10, 0}, 0.1), 1);
}

TEST(Percentile, EndsAreTheExtremes) {
  EXPECT_DOUBLE_EQ(percentile({5, 9, 7}, 0), 5);
  EXPECT_DOUBLE_EQ(percentile({5, 9, 7}, 1), 9);
  EXPECT_DOUBLE_EQ(percentile({5}, 0.9), 5);
}

TEST(Percentile, OfNothingIsNotANumber) {
  EXPECT_TRUE(std::isnan(percentile({}, 0.5)));
}

TEST(Summarize, CountsAndOrders) {
  std::vector<double> samples;
  for (int i = 100; i >= 0; --i)
    samples.push_back(i);
  const Summary s = summarize(samples);
  EXPECT_EQ(s.samples, 101);
  EXPECT_DOUBLE_EQ(s.p10_us, 10);
  EXPECT_DOUBLE_EQ(s.median_us, 50);
  EXPECT_DOUBLE_EQ(s.p90_us, 90);
}

TEST(Summarize, OneOutlierMovesNeitherMedianNorPercentiles) {
  std::vector<double> samples(99, 7.0);
  samples.push_back(1e6);
  const Summary s = summarize(samples);
  EXPECT_DOUBLE_EQ(s.median_us, 7);
  EXPECT_DOUBLE_EQ(s.p90_us, 7);
}

}  // namespace
}  // namespace convoy::bench
