// One measured row and what follows from its times: rates, limit, and whether a launch bounds it.
#pragma once

#include <convoy/convoy.h>

#include <cstdint>
#include <string>
#include <vector>

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

// Fills tflops, gbs, limit_us, by_compute, pct_limit and launch_bound from median_us, flops and
// bytes. launch_bound: the median is under four empty launches.
void judge(Row& row, DType dtype, const Ceilings& measured);

// "ok" and nothing else, or "ok: ..." with what was compared.
bool passed(const Row& row);

// pct_limit rising; rows without a time first.
void sort_worst_first(std::vector<Row>& rows);

}  // namespace convoy::bench
