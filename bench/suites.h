// Suites of the manifest's workloads, as problems to measure.
#pragma once

#include <convoy/problem.h>

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

}  // namespace convoy::bench
