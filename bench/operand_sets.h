// Operand sets in one slab of memory: one for warm rows, as many as outgrow the caches for cold.
#pragma once

#include <convoy/plan.h>

#include <vector>

#include "bench/operands.h"

namespace convoy::bench {

// Memory that problems share one after the other, so that its pages are faulted in once.
class Slab {
 public:
  explicit Slab(Device device) : device_(std::move(device)) {}
  // At least `bytes`; what an earlier call gave is lost. kUnavailable past half of the memory.
  Result<std::byte*> reserve(int64_t bytes);

 private:
  Device device_;
  Buffer buffer_;
};

// `count` copies of the operands, set_bytes apart: the same seeded values in every one; outputs
// start as NaN.
struct OperandSets {
  RunArgs first;
  std::vector<TensorView RunArgs::*> views;  // that the pass uses
  int64_t count = 1;
  int64_t set_bytes = 0;

  // Points the views of `args` to set i modulo count.
  void select(int64_t i, RunArgs& args) const;
};

// As many sets as take `total_bytes`, at least `least`.
Result<OperandSets> make_sets(const ConvProblem& problem, int64_t total_bytes, int64_t least,
                              Slab& slab);

}  // namespace convoy::bench
