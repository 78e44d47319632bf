// The plan cache tells apart what plans differ in, and stays within its bound.
#include "plan/plan_cache.h"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>

#include "launch/backend.h"
#include "launch/cpu/cpu_device.h"

namespace convoy {
namespace {

PlanKey key_of(const char* text, const Device& device) {
  return {*parse_problem(text), device, {}};
}

TEST(PlanCache, AnswersForTheSameQuestionOnly) {
  const Device device = *open_cpu({});
  const PlanKey key = key_of("conv2d fprop f32 n1 c8 k8 g2 h9 w9 r3 s3 pad1 bias relu", device);
  const Plan made = *plan(key.problem, key.device, key.options);
  const std::vector<std::function<void(PlanKey&)>> changes = {
      [](PlanKey& k) { k.problem.N = 2; },
      [](PlanKey& k) { k.problem.in[1] = 8; },
      [](PlanKey& k) { k.problem.filter[2] = 2; },
      [](PlanKey& k) { k.problem.stride[1] = 2; },
      [](PlanKey& k) { k.problem.pad_lo[1] = 0; },
      [](PlanKey& k) { k.problem.pad_hi[2] = 0; },
      [](PlanKey& k) { k.problem.dilation[1] = 2; },
      [](PlanKey& k) { k.problem.G = 4; },
      [](PlanKey& k) { k.problem.dtype = DType::kF16; },
      [](PlanKey& k) { k.problem.layout = Layout::kNhwc; },
      [](PlanKey& k) { k.problem.bias = BiasType::kNone; },
      [](PlanKey& k) { k.problem.activation = Activation::kNone; },
      [](PlanKey& k) { k.problem.rank = 3; },
      [](PlanKey& k) { k.problem.pass = Pass::kDgrad; },
      [](PlanKey& k) { k.options.kernel = "another"; },
      [](PlanKey& k) { k.options.deterministic = true; },
      [](PlanKey& k) { k.device = k.device.with_ceilings(k.device.info().ceilings); },
  };
  PlanCache cache(4);
  EXPECT_FALSE(cache.find(key));
  cache.put(key, made);
  PlanKey copy = key;
  ASSERT_TRUE(cache.find(copy));
  EXPECT_EQ(&cache.find(copy)->explain(), &made.explain()) << "the very plan";
  for (size_t i = 0; i < changes.size(); ++i) {
    PlanKey other = key;
    changes[i](other);
    EXPECT_FALSE(cache.find(other)) << "change " << i;
  }
}

TEST(PlanCache, DropsTheLeastRecentlyUsed) {
  const Device device = *open_cpu({});
  PlanCache cache(3);
  std::vector<PlanKey> keys;
  for (const char* text :
       {"conv1d fprop f32 n1 c1 k1 w8 s3", "conv1d fprop f32 n1 c1 k1 w9 s3",
        "conv1d fprop f32 n1 c1 k1 w10 s3", "conv1d fprop f32 n1 c1 k1 w11 s3"}) {
    keys.push_back(key_of(text, device));
    cache.put(keys.back(), *plan(keys.back().problem, device));
    cache.find(keys.front());
  }
  EXPECT_EQ(cache.size(), 3U);
  EXPECT_TRUE(cache.find(keys[0]));
  EXPECT_FALSE(cache.find(keys[1]));
  cache.clear();
  EXPECT_EQ(cache.size(), 0U);
}

TEST(PlanCache, ServesPlan) {
  const Device device = *open_cpu({});
  const ConvProblem problem = *parse_problem("conv2d fprop f32 n1 c4 k4 g4 h7 w7 r3 s3");
  const Plan first = *plan(problem, device), second = *plan(problem, device);
  EXPECT_EQ(&first.explain(), &second.explain());
  clear_plans();
  EXPECT_NE(&plan(problem, device)->explain(), &first.explain());
}

}  // namespace
}  // namespace convoy
