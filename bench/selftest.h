// Exact integer cases through every kernel and ISA tier that a device can run.
#pragma once

#include <convoy/convoy.h>

#include <functional>
#include <string>
#include <vector>

namespace convoy::bench {

// What one kernel did at one tier in one pass, dtype and layout that its roster row claims.
struct SelftestRow {
  std::string kernel, tier;
  Pass pass;
  DType dtype;
  Layout layout;
  int64_t cases = 0, failed = 0, skipped = 0;
  std::string reason;  // of the first failure, else of the last decline
};

struct SelftestReport {
  std::vector<SelftestRow> rows;
  bool ok = true;  // nothing failed, and every claim of the roster had a case at some tier
};

struct SelftestOptions {
  PlanOptions plan;                              // with a kernel: that one alone
  std::function<void(size_t, size_t)> progress;  // done, of
  std::function<bool()> stop;                    // true ends early with what there is
};

// Inputs are small integers, so every kernel must give the reference's values exactly; outputs
// start as NaN between guard bands. kInvalid for an unknown kernel.
Result<SelftestReport> selftest(const Device& device, const SelftestOptions& options);

}  // namespace convoy::bench
