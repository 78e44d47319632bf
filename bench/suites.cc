// Suites of the manifest's workloads, as problems to measure.
#include "bench/suites.h"

#include <convoy/plan.h>
#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace convoy::bench {
namespace {

bool belongs(const Workload& workload, const std::string& suite) {
  return suite == "all" ||
         std::find(workload.suites.begin(), workload.suites.end(), suite) != workload.suites.end();
}

std::string known_suites() {
  std::set<std::string> names = {"all"};
  for (const Workload& workload : workloads()) {
    for (const std::string_view suite : workload.suites)
      names.emplace(suite);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

Result<std::vector<Case>> suite_cases(const std::string& suite) {
  std::vector<Case> cases;
  std::set<std::string> seen;
  for (const Workload& workload : workloads()) {
    if (!belongs(workload, suite)) continue;
    const Result<ConvProblem> problem = parse_problem(workload.problem);
    if (!problem) return problem.status();
    for (const Layout layout : {Layout::kNchw, Layout::kNhwc}) {
      ConvProblem p = *problem;
      p.layout = layout;
      // Two workloads may share a problem; a record holds each row once.
      if (seen.insert(to_text(p)).second) cases.push_back({p, std::string(workload.name)});
    }
  }
  if (cases.empty()) {
    return invalid(
        fmt::format("bench: suite '{}' is not one of {}; choose one", suite, known_suites()));
  }
  return cases;
}

}  // namespace convoy::bench
