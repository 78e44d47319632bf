// Roster -> accepted -> costed -> chosen, each step kept for explain(); and the run of a plan.
#include <convoy/plan.h>

#include <algorithm>
#include <cstring>

#include "base/int_math.h"
#include "base/str.h"
#include "kernel/kernel.h"
#include "plan/operands.h"

namespace convoy {
namespace {

// Packed weights up to this size go on the stack of run(), so small layers need no workspace.
constexpr size_t kStackBytes = 64 << 10;

struct Accepted {
  const RosterRow* row;
  Config config;
  double estimate_us;
  size_t candidate;  // index into the explanation
};

// Why a row may not even be asked, from its facts.
std::optional<Decline> declines_by_facts(const RosterRow& row, const ConvProblem& p,
                                         const DeviceInfo& device) {
  const auto lacks = [](unsigned set, auto value) {
    return (set >> static_cast<unsigned>(value) & 1U) == 0;
  };
  if (row.backend != device.id.backend) return Decline{"runs on another backend"};
  if (lacks(row.passes, p.pass)) return Decline{str("does not compute ", name(p.pass))};
  if (lacks(row.dtypes, p.dtype)) return Decline{str("does not take dtype ", name(p.dtype))};
  if (lacks(row.layouts, p.layout)) return Decline{str("does not take layout ", name(p.layout))};
  return {};
}

bool is_unit_inner(const TensorView& v, Layout layout) {
  const int axis = layout == Layout::kNhwc ? 1 : v.rank - 1;
  return v.strides[axis] == 1 || v.sizes[axis] == 1;
}

bool is_packed16(const TensorView& v, Layout layout) {
  if (reinterpret_cast<uintptr_t>(v.data) % 16 != 0) return false;
  const TensorView gapless =
      packed(v.data, v.dtype, {v.sizes.data(), static_cast<size_t>(v.rank)}, layout, v.device);
  for (int i = 0; i < v.rank; ++i) {
    if (v.sizes[i] != 1 && v.strides[i] != gapless.strides[i]) return false;
  }
  return true;
}

bool can_walk(const Launchable& kernel, const ConvProblem& p, const RunArgs& args) {
  if (kernel.views == Views::kAny) return true;
  if (kernel.views == Views::kPacked16) {
    return is_packed16(args.x, p.layout) && is_packed16(args.w, p.layout) &&
           is_packed16(args.y, p.layout);
  }
  return is_unit_inner(args.x, p.layout) && is_unit_inner(args.y, p.layout);
}

}  // namespace

const char* name(Verdict verdict) {
  constexpr const char* kNames[] = {"chosen", "accepted", "declined"};
  return kNames[static_cast<int>(verdict)];
}

struct Plan::State {
  ConvProblem problem;
  Device device;
  Explanation explanation;
  std::string kernel, config;
  Launchable chosen;
  Launchable any_view;  // serves what `chosen` cannot walk or pack; runs without packed weights

  Status run_with(const Launchable& launchable, const RunArgs& args, const void* packed,
                  Stream stream) const {
    return launchable.run(launchable.state.get(), args, packed, stream);
  }
};

struct PlanBuilder {
  static Result<Plan> build(const ConvProblem& problem, const Device& device,
                            const PlanOptions& options);
  static Result<std::vector<Accepted>> accept(const ConvProblem& p, const Device& device,
                                              const PlanOptions& options, Explanation& out);
};

Result<std::vector<Accepted>> PlanBuilder::accept(const ConvProblem& p, const Device& device,
                                                  const PlanOptions& options, Explanation& out) {
  std::vector<Accepted> accepted;
  bool known = options.kernel.empty();
  for (const RosterRow& row : roster()) {
    if (row.backend != device.info().id.backend && row.name != options.kernel) continue;
    std::optional<Decline> decline = declines_by_facts(row, p, device.info());
    if (!decline) decline = row.kernel->declines(p, device.info());
    Candidate candidate{.kernel = row.name, .verdict = Verdict::kDeclined};
    if (decline) {
      candidate.reason = decline->reason;
    } else {
      // The batch and the threads may then not steer tiles or the choice.
      ConvProblem costed = p;
      DeviceInfo info = device.info();
      if (options.deterministic) {
        costed.N = 1;
        info.threads = 1;
      }
      Config config = row.kernel->configure(costed, info);
      candidate.estimate_us = row.kernel->estimate_us(costed, config, info);
      candidate.verdict = Verdict::kAccepted;
      candidate.config = config.text;
      accepted.push_back({&row, config, candidate.estimate_us, out.candidates.size()});
    }
    if (row.name == options.kernel) {
      known = true;
      if (decline) {
        return unsupported(str("plan: kernel ", row.name, " declines ", to_text(p), ": ",
                               decline->reason, "; leave out --kernel or name another"));
      }
    }
    out.candidates.push_back(std::move(candidate));
  }
  if (!known) {
    return invalid(str("plan: kernel '", options.kernel,
                       "' is not in the roster; `convoy manifest list` names them"));
  }
  return accepted;
}

Result<Plan> PlanBuilder::build(const ConvProblem& problem, const Device& device,
                                const PlanOptions& options) {
  if (Status s = validate(problem); !s.ok()) return s;
  auto state = std::make_shared<Plan::State>();
  state->problem = problem;
  state->device = device;
  Explanation& out = state->explanation;
  Result<std::vector<Accepted>> accepted = accept(problem, device, options, out);
  if (!accepted) return accepted.status();
  if (accepted->empty()) {
    return unsupported(str("plan: ", to_text(problem), " has no kernel on ", device.info().name));
  }
  // Cheapest first; a reference kernel only where nobody else accepts.
  std::sort(accepted->begin(), accepted->end(), [](const Accepted& a, const Accepted& b) {
    if (a.row->reference != b.row->reference) return b.row->reference;
    if (a.estimate_us != b.estimate_us) return a.estimate_us < b.estimate_us;
    return a.candidate < b.candidate;
  });
  const Accepted* chosen = &accepted->front();
  for (const Accepted& a : *accepted) {
    if (a.row->name == options.kernel) chosen = &a;
  }
  Candidate& winner = out.candidates[chosen->candidate];
  winner.verdict = Verdict::kChosen;
  winner.reason = !options.kernel.empty() ? "named by the caller"
                  : accepted->size() == 1 ? "the only kernel that accepts"
                                          : "the lowest estimate";
  for (const Accepted& a : *accepted) {
    Candidate& candidate = out.candidates[a.candidate];
    if (candidate.verdict != Verdict::kAccepted) continue;
    candidate.reason = a.row->reference ? "the reference judges and does not compete"
                                        : str("estimated slower than ", winner.kernel);
  }
  Result<Launchable> bound = chosen->row->kernel->bind(problem, chosen->config, device);
  if (!bound) return bound.status();
  state->chosen = *std::move(bound);
  for (const Accepted& a : *accepted) {
    Result<Launchable> other = a.row->kernel->bind(problem, a.config, device);
    if (!other || other->views != Views::kAny || other->packed_bytes != 0) continue;
    state->any_view = *std::move(other);
    break;
  }
  state->kernel = chosen->row->name;
  state->config = chosen->config.text;
  out.flops = flops(problem);
  out.executed_flops = chosen->config.executed_flops;
  out.bytes = bytes(problem);
  out.limit = limit(out.flops, out.bytes, problem.dtype, device.info().ceilings);
  Plan plan;
  plan.state_ = std::move(state);
  return plan;
}

Status Plan::run(const RunArgs& args, Stream stream) const {
  const State& s = *state_;
  if (args.packed != nullptr && args.packed->kernel != s.kernel) {
    return invalid(str("plan run: the packed weights belong to kernel ", args.packed->kernel,
                       ", the plan runs ", s.kernel, "; pack them with this plan"));
  }
  if (args.packed != nullptr &&
      (args.packed->config != s.config || args.packed->problem != s.problem)) {
    return invalid(str("plan run: the packed weights belong to ", to_text(args.packed->problem),
                       " (", args.packed->config, "), the plan runs ", to_text(s.problem), " (",
                       s.config, "); pack them with this plan"));
  }
  if (Status status = check_operands(s.problem, s.device.info(), args); !status.ok()) return status;
  if (s.problem.N == 0 && s.problem.pass != Pass::kWgrad) return {};
  const Launchable& kernel = s.chosen;
  const bool walks = can_walk(kernel, s.problem, args);
  if (kernel.packed_bytes == 0 || !walks) {
    if (!walks && args.w.empty()) {
      return invalid(
          "plan run: packed weights need x and y with stride 1 along the innermost axis "
          "of the layout; pass w");
    }
    return s.run_with(walks ? kernel : s.any_view, args, nullptr, stream);
  }
  if (args.packed != nullptr) return s.run_with(kernel, args, args.packed->buffer.data(), stream);
  if (args.workspace != nullptr && args.workspace_bytes >= kernel.packed_bytes) {
    if (reinterpret_cast<uintptr_t>(args.workspace) % 64 != 0) {
      return invalid("plan run: workspace must be aligned to 64 bytes; allocate it with Buffer");
    }
    kernel.pack(kernel.state.get(), args.w, args.workspace);
    return s.run_with(kernel, args, args.workspace, stream);
  }
  if (kernel.packed_bytes <= kStackBytes) {
    alignas(64) std::byte local[kStackBytes];
    kernel.pack(kernel.state.get(), args.w, local);
    return s.run_with(kernel, args, local, stream);
  }
  return s.run_with(s.any_view, args, nullptr, stream);
}

Result<PackedWeights> Plan::pack_weights(const TensorView& w) const {
  const Launchable& kernel = state_->chosen;
  if (Status s = check_weights(state_->problem, state_->device.info(), w); !s.ok()) return s;
  if (kernel.pack == nullptr) {
    return unsupported(str("plan: kernel ", state_->kernel, " reads weights as they are; pass w"));
  }
  Result<Buffer> buffer = Buffer::allocate(state_->device, kernel.packed_bytes);
  if (!buffer) return buffer.status();
  kernel.pack(kernel.state.get(), w, buffer->data());
  return PackedWeights{*std::move(buffer), state_->kernel, state_->config, state_->problem};
}

size_t Plan::workspace_bytes() const {
  const size_t needed = state_->chosen.packed_bytes;
  return needed <= kStackBytes ? 0 : needed;
}

const Explanation& Plan::explain() const {
  return state_->explanation;
}
const std::string& Plan::kernel() const {
  return state_->kernel;
}
const std::string& Plan::config() const {
  return state_->config;
}
const ConvProblem& Plan::problem() const {
  return state_->problem;
}

Result<Plan> plan(const ConvProblem& problem, const Device& device, const PlanOptions& options) {
  return PlanBuilder::build(problem, device, options);
}

std::vector<KernelFacts> kernels() {
  std::vector<KernelFacts> facts;
  for (const RosterRow& row : roster()) {
    KernelFacts f{.name = row.name, .backend = row.backend, .reference = row.reference};
    for (const Pass pass : {Pass::kFprop, Pass::kDgrad, Pass::kWgrad}) {
      if (row.passes >> static_cast<unsigned>(pass) & 1U) f.passes.push_back(pass);
    }
    for (int d = 0; d < 32; ++d) {
      if (row.dtypes >> d & 1U) f.dtypes.push_back(static_cast<DType>(d));
    }
    for (const Layout layout : {Layout::kNchw, Layout::kNhwc}) {
      if (row.layouts >> static_cast<unsigned>(layout) & 1U) f.layouts.push_back(layout);
    }
    facts.push_back(std::move(f));
  }
  return facts;
}

}  // namespace convoy
