// Plans made on several threads before anything is run, so that no run waits for a compiler.
#pragma once

#include <convoy/convoy.h>

#include <functional>
#include <vector>

namespace convoy::bench {

struct AheadOptions {
  PlanOptions plan;
  bool every_kernel = false;  // each that accepts, not the chosen one alone
  int threads = 8;
  std::function<bool()> stop;  // true ends early
};

// The plans, which keep their code loaded. What fails is left out: it fails again where it is used.
std::vector<Plan> compile_ahead(const std::vector<ConvProblem>& problems, const Device& device,
                                const AheadOptions& options);

}  // namespace convoy::bench
