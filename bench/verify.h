// Compares a result with the f64 reference before any of its times is kept.
#pragma once

#include <convoy/convoy.h>

#include <string>

namespace convoy::bench {

// "ok", or "ok: samples 0 and 31 of 32" where the whole would take minutes, or "failed: ..." with
// the errors.
Result<std::string> verify(const ConvProblem& problem, const RunArgs& args, const Device& device);

// One sample of the batch: the problem with N = 1 and its operands. For fprop and dgrad.
struct Slice {
  ConvProblem problem;
  RunArgs args;
};
Slice sample_of(const ConvProblem& problem, const RunArgs& args, int64_t n);

}  // namespace convoy::bench
