// The harness: one problem in, its checked warm and cold rows out.
#pragma once

#include <convoy/convoy.h>

#include <functional>
#include <string>
#include <vector>

#include "bench/operand_sets.h"
#include "bench/row.h"

namespace convoy::bench {

struct MeasureOptions {
  PlanOptions plan;   // without a kernel the plan chooses
  bool tune = false;  // measure every candidate and keep the fastest
  std::function<bool()> stop;
};

// Bytes of the operand sets that a cold row rotates through.
int64_t cold_bytes(const DeviceInfo& device);

// Binds the pool's threads to CPUs for the rest of the process and names these; empty if it cannot.
std::string pin(const Device& device);

class Harness {
 public:
  explicit Harness(const Device& device) : Harness(device, cold_bytes(device.info())) {}
  Harness(const Device& device, int64_t cold) : device_(device), cold_bytes_(cold), slab_(device) {}

  // Rows in the order warm, cold; where weights can be packed ahead, "convoy" has them packed and
  // "convoy+pack" packs inside each call. A failed check gives one row that says so, without times.
  Result<std::vector<Row>> measure(const ConvProblem& problem, const std::string& workload,
                                   const MeasureOptions& options);

 private:
  struct Choice;
  Result<Choice> choose(const ConvProblem& problem, const OperandSets& sets,
                        const MeasureOptions& options) const;
  Status measure_way(const Choice& choice, const OperandSets& sets, bool pack_ahead, Row row,
                     const std::function<bool()>& stop, std::vector<Row>& rows) const;

  Device device_;
  int64_t cold_bytes_;
  Slab slab_;
};

}  // namespace convoy::bench
