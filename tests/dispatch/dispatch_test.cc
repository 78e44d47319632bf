// Pins which kernel wins named problems on described devices, and that nobody is left to the
// reference.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "conformance/runs.h"
#include "kernel/kernel.h"
#include "support/problems.h"

namespace convoy::test {
namespace {

struct Pin {
  const char* problem;
  Isa tier;
  const char* kernel;
};

// A row speaks once its kernel is in the roster. Estimates decide, so a changed winner is a change
// of the cost model and of this table, in one commit.
constexpr Pin kPins[] = {
    {"conv2d dgrad f32 n1 c8 k8 g8 h8 w8 r3 s3 pad1", Isa::kAvx512, "cpu_reference_dgrad"},
    {"conv2d wgrad f32 n1 c8 k8 g8 h8 w8 r3 s3 pad1", Isa::kAvx512, "cpu_reference_wgrad"},
    {"conv2d fprop f32 n1 c256 k256 g256 h28 w28 r3 s3 pad1 nhwc", Isa::kAvx512,
     "cpu_channel_lanes_fprop"},
    {"conv2d fprop f32 n1 c256 k256 g256 h28 w28 r3 s3 pad1 nhwc", Isa::kAvx2,
     "cpu_channel_lanes_fprop"},
    {"conv2d fprop f32 n1 c128 k128 g32 h56 w56 r3 s3 pad1 nhwc", Isa::kAvx512,
     "cpu_channel_lanes_fprop"},
    {"conv1d fprop bf16 n1 c768 k768 g768 w1024 s4 causal nhwc", Isa::kAvx512,
     "cpu_channel_lanes_fprop"},
    {"conv2d fprop f32 n1 c512 k512 g8 h14 w14 r3 s3 pad1 nhwc", Isa::kAvx512,
     "cpu_broadcast_fprop"},
    {"conv2d fprop f32 n1 c64 k64 h56 w56 r3 s3 pad1 nhwc", Isa::kAvx512, "cpu_broadcast_fprop"},
    {"conv2d fprop f32 n1 c256 k256 h28 w28 r1 s1 nhwc", Isa::kAvx2, "cpu_broadcast_fprop"},
    {"conv2d fprop f32 n1 c256 k256 g256 h28 w28 r3 s3 pad1", Isa::kAvx512, "cpu_row_lanes_fprop"},
    {"conv2d fprop f32 n1 c128 k128 g32 h56 w56 r3 s3 pad1", Isa::kAvx2, "cpu_row_lanes_fprop"},
};

Device described(Isa tier, int threads) {
  DeviceInfo info{.name = "described", .arch = "x86_64", .isa = tier, .threads = threads};
  info.memory_bytes = int64_t{16} << 30;
  info.l2_bytes = 2 << 20;
  info.l3_bytes = 32 << 20;
  const double width = tier == Isa::kBaseline ? 4 : tier == Isa::kAvx2 ? 8 : 16;
  info.ceilings.copy = {{24 << 10, 400}, {1 << 20, 160}, {16 << 20, 80}, {256 << 20, 20}};
  info.ceilings.copy_streaming_gbs = 24;
  info.ceilings.fma_gflops = width * 10 * threads;
  info.ceilings.fork_join_us = 2;
  return Device(info);
}

TEST(Dispatch, NamedProblemsGoToTheirKernel) {
  for (const Pin& pin : kPins) {
    const Result<ConvProblem> p = parse_problem(pin.problem);
    ASSERT_TRUE(p) << p.status().message();
    const Result<Plan> chosen = plan(*p, described(pin.tier, 2));
    ASSERT_TRUE(chosen) << chosen.status().message();
    EXPECT_EQ(chosen->kernel(), pin.kernel) << pin.problem << " " << name(pin.tier);
  }
}

// The three kinds of machine; a bind that needs code of a tier is not run here.
TEST(Dispatch, EveryFpropHasATakerThatIsNotTheReference) {
  for (const Isa tier : {Isa::kBaseline, Isa::kAvx2, Isa::kAvx512}) {
    const Device device = described(tier, 2);
    for (uint64_t seed = 0; seed < 1000; ++seed) {
      Random r(seed);
      ConvProblem p = random_problem(r);
      p = for_pass(p, Pass::kFprop);
      const std::vector<std::string> takers = accepting(p, device);
      ASSERT_FALSE(takers.empty()) << to_text(p);
      EXPECT_FALSE(is_reference(takers.front())) << to_text(p) << " " << name(tier);
    }
  }
}

TEST(Dispatch, TheReferenceNeverCompetes) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    Random r(seed);
    const ConvProblem p = random_problem(r);
    const Result<Plan> chosen = plan(p, described(Isa::kAvx512, 2));
    ASSERT_TRUE(chosen) << chosen.status().message();
    const bool alternatives = !is_reference(accepting(p, described(Isa::kAvx512, 2)).front());
    EXPECT_EQ(is_reference(chosen->kernel()), !alternatives) << to_text(p);
  }
}

TEST(Dispatch, ChoiceFollowsTheLowestEstimate) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    Random r(seed);
    const Result<Plan> chosen = plan(random_problem(r), described(Isa::kAvx2, 1));
    ASSERT_TRUE(chosen);
    double best = std::numeric_limits<double>::infinity(), winner = 0;
    for (const Candidate& c : chosen->explain().candidates) {
      EXPECT_FALSE(c.reason.empty()) << c.kernel << " has no reason";
      if (c.verdict == Verdict::kChosen) winner = c.estimate_us;
      if (c.verdict != Verdict::kDeclined && !is_reference(c.kernel)) {
        best = std::min(best, c.estimate_us);
      }
    }
    if (!is_reference(chosen->kernel())) {
      EXPECT_EQ(winner, best);
    }
    if (chosen->problem().N > 0) {
      EXPECT_GT(winner, 0) << to_text(chosen->problem());
    }
  }
}

}  // namespace
}  // namespace convoy::test
