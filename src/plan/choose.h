// Who computes a problem on a device: every kernel asked and costed, none of them bound.
#pragma once

#include <convoy/plan.h>

#include <vector>

#include "kernel/kernel.h"

namespace convoy {

struct Accepted {
  const RosterRow* row;
  Config config;
  double estimate_us;
  size_t candidate;  // index into the explanation
};

struct Choice {
  Explanation explanation;
  std::vector<Accepted> accepted;  // cheapest first, reference kernels last; never empty
  size_t index = 0;                // of the chosen one

  const Accepted& chosen() const { return accepted[index]; }
};

// Needs no device: a described one will do. Fails as plan() does.
Result<Choice> choose(const ConvProblem& problem, const Device& device, const PlanOptions& options);

}  // namespace convoy
