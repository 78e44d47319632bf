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

void judge(Row& row, DType dtype, const Ceilings& measured) {
  const Limit bound = limit(row.flops, row.bytes, dtype, ceilings_for(row.cache, measured));
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
