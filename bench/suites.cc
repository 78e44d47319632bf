// Suites of the manifest's workloads, as problems to measure.
#include "bench/suites.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <set>
#include <thread>

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

std::string workload_of(const ConvProblem& problem) {
  for (const Workload& workload : workloads()) {
    Result<ConvProblem> named = parse_problem(workload.problem);
    if (!named) continue;
    named->layout = problem.layout;
    if (*named == problem) return std::string(workload.name);
  }
  return {};
}

Result<int64_t> plan_all(const std::vector<Case>& cases, const Device& device,
                         const PlanOptions& options, int threads,
                         const std::function<bool()>& stop) {
  std::atomic<size_t> next = 0;
  std::atomic<int64_t> planned = 0;
  std::mutex mutex;
  Status first_error;
  std::vector<std::jthread> workers;
  workers.reserve(static_cast<size_t>(std::max(0, threads)));
  for (int t = 0; t < threads; ++t) {
    workers.emplace_back([&] {
      for (size_t i = next++; i < cases.size() && !(stop && stop()); i = next++) {
        const Result<Plan> one = plan(cases[i].problem, device, options);
        if (one) {
          ++planned;
          continue;
        }
        const std::lock_guard lock(mutex);
        if (first_error.ok()) first_error = one.status();
        next = cases.size();
      }
    });
  }
  workers.clear();
  if (!first_error.ok()) return first_error;
  return planned.load();
}

}  // namespace convoy::bench
