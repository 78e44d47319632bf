// One measured row and what follows from its times.
#include "bench/row.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

namespace convoy::bench {

const char* name(Cache cache) {
  return cache == Cache::kWarm ? "warm" : "cold";
}

Ceilings ceilings_for(Cache cache, const Ceilings& measured) {
  if (cache == Cache::kWarm) return measured;
  Ceilings cold = measured;
  cold.copy = {{1, measured.copy_gbs(std::numeric_limits<int64_t>::max())}};
  return cold;
}

// Everything of a row but its times.
Row describe(const Plan& plan, const std::string& workload, std::string impl) {
  const Explanation& e = plan.explain();
  Row row;
  row.problem = to_text(plan.problem());
  row.workload = workload;
  row.layout = plan.problem().layout;
  row.impl = std::move(impl);
  row.version = version();
  row.kernel = plan.kernel();
  row.config = plan.config();
  row.flops = e.flops;
  row.executed_flops = e.executed_flops;
  row.bytes = e.bytes;
  return row;
}

void add_times(Row& row, const Timing& timing) {
  row.samples = timing.summary.samples;
  row.median_us = timing.summary.median_us;
  row.p10_us = timing.summary.p10_us;
  row.p90_us = timing.summary.p90_us;
  row.stream_us = timing.stream_us;
}

void clear_times(Row& row) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  row.median_us = row.p10_us = row.p90_us = row.stream_us = kNone;
  row.tflops = row.gbs = row.limit_us = row.pct_limit = kNone;
}

void judge(Row& row, DType dtype, const Ceilings& measured, std::optional<double> copy_us) {
  Limit bound = limit(row.flops, row.bytes, dtype, ceilings_for(row.cache, measured));
  if (copy_us) {
    const double compute_us = limit(row.flops, 0, dtype, measured).us;
    bound = {.us = std::max(*copy_us, compute_us), .by_compute = compute_us > *copy_us};
  }
  row.limit_us = bound.us;
  row.by_compute = bound.by_compute;
  row.tflops = static_cast<double>(row.flops) / (row.median_us * 1e6);
  row.gbs = static_cast<double>(row.bytes) / (row.median_us * 1e3);
  row.pct_limit = 100 * bound.us / row.median_us;
  row.launch_bound = row.median_us < 4 * measured.fork_join_us;
}

bool passed(const Row& row) {
  return row.check.rfind("ok", 0) == 0;
}

void sort_worst_first(std::vector<Row>& rows) {
  const auto rank = [](const Row& row) {
    return std::isfinite(row.pct_limit) ? row.pct_limit : -1;
  };
  std::sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) {
    return std::tuple(rank(a), a.problem, a.cache, a.impl) <
           std::tuple(rank(b), b.problem, b.cache, b.impl);
  });
}

}  // namespace convoy::bench
