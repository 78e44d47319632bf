// The self-test passes on this build, and would notice a wrong kernel.
#include "bench/selftest.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "bench/exact_case.h"

namespace convoy::bench {
namespace {

TEST(FillValue, StartsAsTheRuleSays) {
  const int x[] = {1, -4, 1, -1, 2, 2, -3, -5, 2, -3, -2, -2};
  const int w[] = {1, -2, 1, 0, -2, 2, 1, 0, -2};
  for (uint32_t i = 0; i < std::size(x); ++i)
    EXPECT_EQ(fill_value(0, 5, i), x[i]) << i;
  for (uint32_t i = 0; i < std::size(w); ++i)
    EXPECT_EQ(fill_value(1, 3, i), w[i]) << i;
}

TEST(TripleOf, SumsWeightsAndMagnitude) {
  EXPECT_EQ(triple_of({1, -4, 2}), (Triple{-1, -1, 4}));
  std::vector<float> fourteen(14, 0);
  fourteen[13] = 5;  // weight 1 again
  EXPECT_EQ(triple_of(fourteen), (Triple{5, 5, 5}));
}

TEST(CaseTexts, EveryVariantIsAProblem) {
  for (const CaseText& text : case_texts()) {
    ASSERT_TRUE(parse_problem(text.problem).ok()) << text.problem;
    for (const Pass pass : {Pass::kFprop, Pass::kDgrad, Pass::kWgrad}) {
      EXPECT_TRUE(validate(variant_of(text, pass, DType::kF16, Layout::kNhwc)).ok());
    }
  }
}

TEST(ExactCase, NoticesAKernelThatComputesSomethingElse) {
  const Device cpu = *device();
  const CaseText text = {"conv1d fprop f32 n1 c2 k2 g2 w9 s3 pad1", false};
  ConvProblem problem = *parse_problem(text.problem);
  auto exact = ExactCase::make(text, problem, cpu);
  ASSERT_TRUE(exact.ok());
  EXPECT_EQ(*exact->fault(*plan(problem, cpu), cpu, false), "");
  problem.activation = Activation::kRelu;
  const auto fault = exact->fault(*plan(problem, cpu), cpu, false);
  ASSERT_TRUE(fault.ok());
  EXPECT_NE(fault->find("y["), std::string::npos) << *fault;
}

TEST(ExactCase, NoticesThatTheKnownSumsOfF20AreMissed) {
  const Device cpu = *device();
  const ConvProblem other = *parse_problem("conv1d fprop f32 n1 c64 k64 g64 w32 s4 pad3:0 relu");
  auto exact = ExactCase::make({"", true}, other, cpu);
  ASSERT_TRUE(exact.ok());
  EXPECT_NE(exact->fault(*plan(other, cpu), cpu, false)->find("F20"), std::string::npos);
}

TEST(Selftest, EveryClaimOfTheRosterHasCasesAndNoneFails) {
  const Device cpu = *device();
  const auto report = selftest(cpu, {});
  ASSERT_TRUE(report.ok());
  EXPECT_TRUE(report->ok);
  std::map<std::string, int64_t> cases;
  std::set<std::string> tiers;
  for (const SelftestRow& row : report->rows) {
    EXPECT_EQ(row.failed, 0) << row.kernel << " " << row.tier << ": " << row.reason;
    cases[row.kernel] += row.cases;
    tiers.insert(row.tier);
  }
  for (const KernelFacts& facts : kernels()) {
    if (facts.backend == Backend::kCpu) {
      EXPECT_GT(cases[facts.name], 0) << facts.name;
    }
  }
  EXPECT_EQ(tiers.count(name(cpu.info().isa)), 1U);
  EXPECT_EQ(tiers.size(), tier_devices(cpu).size());
}

TEST(Selftest, OneKernelOnlyWhereNamedAndUnknownNamesAreRefused) {
  const Device cpu = *device();
  const std::string kernel = kernels().front().name;
  const auto one = selftest(cpu, {.plan = {.kernel = kernel}});
  ASSERT_TRUE(one.ok());
  for (const SelftestRow& row : one->rows)
    EXPECT_EQ(row.kernel, kernel);
  const auto none = selftest(cpu, {.plan = {.kernel = "no_such_kernel"}});
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.status().code(), Code::kInvalid);
}

TEST(TierDevices, RiseToTheDevicesOwnTier) {
  const Device cpu = *device();
  const std::vector<Device> tiers = tier_devices(cpu);
  ASSERT_FALSE(tiers.empty());
  EXPECT_EQ(tiers.front().info().isa, Isa::kBaseline);
  EXPECT_EQ(tiers.back().info().isa, cpu.info().isa);
  for (const Device& tier : tiers)
    EXPECT_EQ(tier.info().threads, cpu.info().threads);
}

}  // namespace
}  // namespace convoy::bench
