// Random legal problems through every kernel and tier, against the f64 reference.
// CONVOY_TEST_DRAWS: how many, 20000 unless set; CONVOY_TEST_FRACTION scales it.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

#include "base/str.h"
#include "conformance/trial.h"
#include "kernel/kernel.h"
#include "support/devices.h"

namespace convoy::test {
namespace {

double number_from(const char* variable, double fallback) {
  const char* text = std::getenv(variable);
  return text == nullptr ? fallback : std::strtod(text, nullptr);
}

// Draws of each half; two CTest entries run them side by side.
int64_t draws_per_half() {
  const double draws = number_from("CONVOY_TEST_DRAWS", 20000);
  return std::max<int64_t>(
      1, static_cast<int64_t>(draws * number_from("CONVOY_TEST_FRACTION", 1) / 2));
}

using Hits = std::map<std::pair<std::string, Isa>, int64_t>;

// The accepting row with the fewest hits at this tier, so that all fill evenly. A reference row
// costs too much on the long problems, which it judges anyway.
std::string other_kernel(const ConvProblem& p, const Device& device, Isa tier,
                         const std::string& chosen, Hits& hits) {
  std::string rarest;
  for (const std::string& kernel : accepting(p, device)) {
    if (kernel == chosen || (is_reference(kernel) && flops(p) > 1 << 17)) continue;
    if (rarest.empty() || hits[{kernel, tier}] < hits[{rarest, tier}]) rarest = kernel;
  }
  return rarest;
}

void print(const Hits& hits) {
  for (const RosterRow& row : roster()) {
    std::string line = str(row.name, ":");
    for (const auto& [cell, count] : hits) {
      if (cell.first == row.name) line += str(" ", name(cell.second), " ", count);
    }
    std::printf("%s\n", line.c_str());
  }
  const Isa top = tiers().back();
  for (const Isa tier : {Isa::kAvx2, Isa::kAvx512, Isa::kAvx512Bf16, Isa::kNeon}) {
    const bool foreign = (tier == Isa::kNeon) != (top == Isa::kNeon);
    if (foreign || tier > top) std::printf("not on this machine: tier %s\n", name(tier));
  }
}

// Every row at every tier, 200 times in 20000 draws.
void expect_coverage(const Hits& hits, int64_t draws) {
  const int64_t least = std::max<int64_t>(1, draws / 100);
  for (const RosterRow& row : roster()) {
    if (row.backend != Backend::kCpu) continue;
    for (const Isa tier : tiers()) {
      const auto found = hits.find({row.name, tier});
      EXPECT_GE(found == hits.end() ? 0 : found->second, least) << row.name << " " << name(tier);
    }
  }
}

void run_half(uint64_t half) {
  const int64_t draws = draws_per_half();
  const std::vector<Isa> all = tiers();
  Hits hits;
  int faults = 0;
  for (int64_t i = 0; i < draws && faults < 5; ++i) {
    Random r(static_cast<uint64_t>(i) * 2 + half);
    const Isa tier = all[static_cast<size_t>(r.between(0, static_cast<int64_t>(all.size()) - 1))];
    const Question question = random_question(r, tier);
    const Answer answer(question);
    Manner manner = random_manner(r, tier);
    const auto run = [&] {
      const Outcome outcome = answer.judge(manner);
      if (outcome.ran_it) ++hits[{outcome.kernel, tier}];
      if (outcome.fault.empty()) return outcome.kernel;
      ++faults;
      ADD_FAILURE() << "draw " << i << report_shrunk(question, manner);
      return outcome.kernel;
    };
    const std::string chosen = run();
    manner = random_manner(r, tier);
    manner.kernel =
        other_kernel(question.problem, cpu_of(tier, manner.threads), tier, chosen, hits);
    if (!manner.kernel.empty()) run();
  }
  print(hits);
  if (faults == 0) expect_coverage(hits, draws);
}

TEST(Property, EvenSeeds) {
  run_half(0);
}
TEST(Property, OddSeeds) {
  run_half(1);
}

// The judge itself: what it must refuse.
TEST(Judge, RefusesAWrongOrMissingElement) {
  const ConvProblem p = *parse_problem("conv1d fprop f32 n1 c1 k1 w4 s1");
  Storage got(DType::kF32, y_shape(p), packed_form(y_shape(p), Layout::kNchw));
  const std::vector<Sum> expected = {{1, 1}, {2, 2}, {3, 3}, {4, 4}};
  EXPECT_EQ(first_fault(p, expected, got, Judge::kExact, 1), "element 0 is not written");
  got.set({1, 2, 3, 4});
  EXPECT_EQ(first_fault(p, expected, got, Judge::kExact, 1), "");
  got.set({1, 2, 3.0000002384185791, 4});
  EXPECT_NE(first_fault(p, expected, got, Judge::kExact, 1), "");
  EXPECT_EQ(first_fault(p, expected, got, Judge::kBound, 1), "");
  got.set({1, 2, 3.00001, 4});
  EXPECT_NE(first_fault(p, expected, got, Judge::kBound, 1), "");
  got.set({1, 2, std::nan(""), 4});
  EXPECT_NE(first_fault(p, expected, got, Judge::kBound, 1), "");
  got.set({1, 2, 3, 4});
  static_cast<float*>(got.view().data)[4] = 0;
  EXPECT_NE(first_fault(p, expected, got, Judge::kExact, 1), "");
}

}  // namespace
}  // namespace convoy::test
