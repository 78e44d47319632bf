// Suites of the manifest's workloads, as problems to measure.
#pragma once

#include <convoy/plan.h>

#include <functional>
#include <string>
#include <vector>

namespace convoy::bench {

struct Case {
  ConvProblem problem;
  std::string workload;  // empty where the problem has no name
};

// The workloads of a suite, or all of them for "all", each in both layouts. kInvalid for an unknown
// suite.
Result<std::vector<Case>> suite_cases(const std::string& suite);

// The workload that asks for this problem in any layout; empty where none does.
std::string workload_of(const ConvProblem& problem);

// Plans every case on `threads` threads, which compiles what the device needs for it; how many were
// planned before `stop` said so. The first error ends it.
Result<int64_t> plan_all(const std::vector<Case>& cases, const Device& device,
                         const PlanOptions& options, int threads,
                         const std::function<bool()>& stop);

}  // namespace convoy::bench
