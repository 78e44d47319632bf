// One measured row and what follows from its times: rates, limit, and whether a launch bounds it.
#pragma once

#include <convoy/convoy.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/stats.h"

namespace convoy::bench {

enum class Cache { kWarm, kCold };
const char* name(Cache cache);

struct Algorithm {
  std::string name;
  double median_us = 0;
  int64_t workspace_bytes = 0;
};

// The keys of the contract's bench rows.
struct Row {
  std::string problem, workload;
  Layout layout = Layout::kNchw;
  Cache cache = Cache::kWarm;
  std::string impl, version, kernel, config;
  int64_t samples = 0;
  double median_us = 0, p10_us = 0, p90_us = 0, stream_us = 0;
  int64_t flops = 0, executed_flops = 0, bytes = 0;
  double tflops = 0, gbs = 0, limit_us = 0;
  bool by_compute = false;
  double pct_limit = 0;
  bool launch_bound = false, peer_degenerate = false;
  std::string check;
  std::vector<Algorithm> algorithms;
};

// The ceilings that bound a row in this cache state: cold bytes come from memory at any size.
Ceilings ceilings_for(Cache cache, const Ceilings& measured);

struct Timing {
  Summary summary;       // per call
  double stream_us = 0;  // the median of single calls, each timed alone
};

// Everything of a row but its times; the times; and what a row without a right result has.
Row describe(const Plan& plan, const std::string& workload, std::string impl);
void add_times(Row& row, const Timing& timing);
void clear_times(Row& row);

// Fills tflops, gbs, limit_us, by_compute, pct_limit and launch_bound from median_us, flops and
// bytes. launch_bound: the median is under four empty launches.
// `copy_us`, where given, is a copy of the row's bytes in its cache state, measured beside it.
void judge(Row& row, DType dtype, const Ceilings& measured,
           std::optional<double> copy_us = std::nullopt);

// "ok" and nothing else, or "ok: ..." with what was compared.
bool passed(const Row& row);

// pct_limit rising; rows without a time first.
void sort_worst_first(std::vector<Row>& rows);

}  // namespace convoy::bench
