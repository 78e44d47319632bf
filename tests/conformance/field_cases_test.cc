// Every field case, on every dtype, layout, kernel, ISA tier and stored form that it names.
#include <gtest/gtest.h>

#include <set>

#include "base/str.h"
#include "conformance/field_case.h"
#include "conformance/runs.h"
#include "support/devices.h"
#include "support/fill.h"

namespace convoy::test {
namespace {

using nlohmann::json;

// Field cases without an entry in the file's `cases` or `errors`, and who judges them instead.
struct LeftOut {
  const char* id;
  const char* reason;
};
constexpr LeftOut kLeftOut[] = {
    {"F05", "a bound, not fixed numbers: precision_test"},
    {"F29", "9 GB: F29-small has its numbers"},
    {"F43c", "needs two devices: waits for the GPU; operands_test refuses a foreign device"},
    {"F24b", "compares two calls: determinism_test"},
    {"F45", "timing: bench"},
    {"F46", "timing: bench"},
    {"F47", "timing, launch counts: bench, waits for gradients-speed and the GPU"},
    {"F48", "timing: bench"},
    {"F49", "timing: bench"},
    {"F50", "timing: bench"},
    {"F51", "timing: bench"},
    {"F52", "launch counts: waits for the GPU"},
    {"F53", "timing: bench"},
    {"F54", "timing of first calls: bench"},
    {"F55", "memory growth: plans keep no cache on the CPU; waits for the GPU"},
    {"F56", "the timing half: bench"},
    {"F57", "timing: bench"},
    {"F58", "workspace sizes: plan_test bounds them"},
    {"F60", "streaming with carried state: not offered yet, the one-shot numbers run"},
    {"F61", "needs Python: waits"},
    {"F62", "repeated runs bit for bit: determinism_test"},
    {"F64", "the fp8 call itself: refused by name in text_test, the numbers run"},
    {"F66", "capture: waits for the GPU"},
};

// Runs one kernel on one form; the fault, or nothing.
std::string run_case(const FieldCase& c, const ConvProblem& p, const Plan& plan,
                     const Forms& forms) {
  const Operands operands(p, c.values, forms);
  std::vector<std::byte> memory(plan.workspace_bytes() + 64);
  RunArgs args = operands.args();
  args.workspace = memory.data() + 64 - reinterpret_cast<uintptr_t>(memory.data()) % 64;
  args.workspace_bytes = plan.workspace_bytes();
  if (const Status s = plan.run(args); !s.ok()) return s.message();
  return case_fault(c, p, operands);
}

class FieldCases : public testing::TestWithParam<FieldCase> {
 protected:
  // Every kernel that accepts `p`, at every tier where its code may differ.
  void check(const ConvProblem& p) const {
    const std::vector<Isa> all = tiers();
    const std::vector<Forms> forms = forms_of(GetParam(), p);
    for (const Isa tier : all) {
      const Device device = cpu_of(tier, 2);
      for (const std::string& kernel : accepting(p, device)) {
        if (is_reference(kernel) && tier != all.back()) continue;
        const Result<Plan> chosen = plan(p, device, {.kernel = kernel});
        ASSERT_TRUE(chosen) << chosen.status().message();
        for (size_t i = 0; i < forms.size(); ++i) {
          const std::string fault = run_case(GetParam(), p, *chosen, forms[i]);
          EXPECT_EQ(fault, "") << to_text(p) << " " << kernel << " " << name(tier) << " form " << i;
        }
      }
    }
  }
};

TEST_P(FieldCases, Hold) {
  const FieldCase& c = GetParam();
  for (const ConvProblem& p : problems_of(c))
    check(p);
}

std::string test_name(const testing::TestParamInfo<FieldCase>& info) {
  std::string name = info.param.id;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}
INSTANTIATE_TEST_SUITE_P(All, FieldCases, testing::ValuesIn(field_cases()), test_name);

TEST(FieldCaseFile, FillRuleStartsAsThePageSays) {
  for (const auto& [key, starts] : field_case_file()["conventions"]["fill_starts"].items()) {
    const std::vector<double> want = starts;
    const auto s = static_cast<uint32_t>(key[0] - '0'), m = static_cast<uint32_t>(key[2] - '0');
    EXPECT_EQ(fill(s, m, static_cast<int64_t>(want.size())), want) << key;
  }
}

TEST(FieldCaseFile, EveryCaseIsRunOrLeftOutWithAReason) {
  const json& file = field_case_file();
  ASSERT_EQ(field_cases().size(), file["cases"].size());
  std::set<std::string> covered, reasons;
  for (const char* list : {"cases", "errors"}) {
    for (const json& c : file[list])
      covered.insert(c["id"].get<std::string>().substr(0, 3));
  }
  int left_out = 0;
  for (const LeftOut& l : kLeftOut) {
    EXPECT_TRUE(reasons.insert(l.id).second) << l.id;
    std::printf("left out %s: %s\n", l.id, l.reason);
    ++left_out;
  }
  std::printf("%zu cases and %zu errors run, %d parts left out\n", file["cases"].size(),
              file["errors"].size(), left_out);
  for (const json& o : file["omitted"])
    EXPECT_TRUE(reasons.contains(o["id"])) << o["id"] << ": " << o["reason"];
  for (int i = 1; i <= 66; ++i) {
    const std::string id = str("F", i < 10 ? "0" : "", i);
    EXPECT_TRUE(covered.contains(id) || reasons.contains(id)) << id;
  }
}

}  // namespace
}  // namespace convoy::test
