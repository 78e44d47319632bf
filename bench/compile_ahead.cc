// Plans made on several threads before anything is run.
#include "bench/compile_ahead.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

namespace convoy::bench {

std::vector<Plan> compile_ahead(const std::vector<ConvProblem>& problems, const Device& device,
                                const AheadOptions& options) {
  std::vector<Plan> plans;
  std::atomic<size_t> next = 0;
  std::mutex mutex;
  const auto keep = [&](const Result<Plan>& made) {
    if (!made) return;
    const std::scoped_lock lock(mutex);
    plans.push_back(*made);
  };
  const auto work = [&] {
    for (size_t i = next++; i < problems.size(); i = next++) {
      if (options.stop && options.stop()) return;
      const Result<Plan> first = plan(problems[i], device, options.plan);
      keep(first);
      if (!first || !options.every_kernel || !options.plan.kernel.empty()) continue;
      for (const Candidate& c : first->explain().candidates) {
        PlanOptions forced = options.plan;
        forced.kernel = c.kernel;
        if (c.verdict == Verdict::kAccepted) keep(plan(problems[i], device, forced));
      }
    }
  };
  std::vector<std::thread> workers;
  workers.reserve(static_cast<size_t>(std::max(0, options.threads)));
  for (int i = 0; i < options.threads; ++i)
    workers.emplace_back(work);
  for (std::thread& worker : workers)
    worker.join();
  return plans;
}

}  // namespace convoy::bench
