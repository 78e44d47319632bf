// Roster -> accepted -> costed -> chosen, each step kept for explain(); and the run of a plan.
#include <convoy/plan.h>

#include <algorithm>
#include <cstring>

#include "base/int_math.h"
#include "base/str.h"
#include "kernel/kernel.h"
#include "plan/choose.h"
#include "plan/operands.h"
#include "plan/plan_cache.h"

namespace convoy {
namespace {

// Packed weights up to this size go on the stack of run(), so small layers need no workspace.
constexpr size_t kStackBytes = 64 << 10;

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
};

namespace {

// A kernel that takes any view, of the accepted ones the cheapest; compiled ones from the dearest,
// which is the general one, since each that is tried costs a compilation.
Launchable bind_any_view(const ConvProblem& problem, const Choice& choice, const Device& device) {
  std::vector<const Accepted*> order;
  order.reserve(choice.accepted.size());
  for (const Accepted& a : choice.accepted)
    order.push_back(&a);
  if (choice.chosen().row->kernel->source != nullptr) std::reverse(order.begin(), order.end());
  for (const Accepted* a : order) {
    Result<Launchable> other = a->row->kernel->bind(problem, a->config, device);
    if (other && other->views == Views::kAny && other->packed_bytes == 0) return *std::move(other);
  }
  return {};
}

}  // namespace

Result<Plan> PlanBuilder::build(const ConvProblem& problem, const Device& device,
                                const PlanOptions& options) {
  const Result<Choice> choice = choose(problem, device, options);
  if (!choice) return choice.status();
  const Accepted& chosen = choice->chosen();
  Result<Launchable> bound = chosen.row->kernel->bind(problem, chosen.config, device);
  if (!bound) return bound.status();
  auto state = std::make_shared<Plan::State>();
  state->problem = problem;
  state->device = device;
  state->explanation = choice->explanation;
  state->any_view = bound->views == Views::kAny && bound->packed_bytes == 0
                        ? *bound
                        : bind_any_view(problem, *choice, device);
  state->chosen = *std::move(bound);
  state->kernel = chosen.row->name;
  state->config = chosen.config.text;
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

namespace {

// Never destroyed: plans hold device code, whose driver may be gone at exit.
PlanCache& plan_cache() {
  constexpr size_t kMostPlans = 1024;
  static auto* const kCache = new PlanCache(kMostPlans);
  return *kCache;
}

}  // namespace

Result<Plan> plan(const ConvProblem& problem, const Device& device, const PlanOptions& options) {
  const PlanKey key = {problem, device, options};
  if (std::optional<Plan> known = plan_cache().find(key)) return *std::move(known);
  Result<Plan> made = PlanBuilder::build(problem, device, options);
  if (made) plan_cache().put(key, *made);
  return made;
}

void clear_plans() {
  plan_cache().clear();
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
