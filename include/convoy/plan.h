// Plan: the chosen kernel for one problem on one device, and why the others were not chosen.
#pragma once

#include <convoy/device.h>
#include <convoy/problem.h>
#include <convoy/run_args.h>

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace convoy {

struct PlanOptions {
  std::string kernel;          // this one or an error; empty: the cheapest that accepts
  bool deterministic = false;  // the same bits for any batch, thread count and run
};

enum class Verdict { kChosen, kAccepted, kDeclined };
const char* name(Verdict verdict);

struct Candidate {
  std::string kernel;
  Verdict verdict;
  std::string reason;  // why it was declined, or what decided
  std::string config;
  double estimate_us = 0;
};

struct Explanation {
  std::vector<Candidate> candidates;
  int64_t flops = 0;
  int64_t executed_flops = 0;  // with tile padding, of the chosen kernel
  int64_t bytes = 0;
  Limit limit;
};

// Immutable; any number of threads may run one plan at a time.
class Plan {
 public:
  // Checks the operands and computes. No allocation, no lock. Without the workspace, or with views
  // that the chosen kernel cannot walk, the general kernel serves the call.
  Status run(const RunArgs& args, Stream stream = {}) const;
  Result<PackedWeights> pack_weights(const TensorView& w) const;

  size_t workspace_bytes() const;
  const Explanation& explain() const;
  const std::string& kernel() const;
  const std::string& config() const;
  const ConvProblem& problem() const;

 private:
  friend struct PlanBuilder;
  struct State;
  std::shared_ptr<const State> state_;
};

// Problem -> plan: kInvalid for a broken problem or an unknown kernel name, kUnsupported when no
// kernel serves the dtype or the named kernel declines.
// The last 1024 plans are kept, so that asking again costs a lookup; any copy of `device` hits.
Result<Plan> plan(const ConvProblem& problem, const Device& device,
                  const PlanOptions& options = {});
// Forgets them all; plans in use live on.
void clear_plans();

// Facts of every kernel of this build, one row each, in the order of manifest/kernels.yaml.
struct KernelFacts {
  std::string name;
  Backend backend;
  std::vector<Pass> passes;
  std::vector<DType> dtypes;
  std::vector<Layout> layouts;
  bool reference;  // judges the others; never chosen while another kernel accepts
};
std::vector<KernelFacts> kernels();

// A named problem of manifest/workloads/ and the model or paper it comes from.
struct Workload {
  std::string_view name;
  std::string_view problem;  // as to_text() prints it
  std::string_view model;
  std::span<const std::string_view> suites;  // beside `all`, which holds every workload
};
std::span<const Workload> workloads();

}  // namespace convoy
