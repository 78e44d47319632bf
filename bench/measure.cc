// The harness: one problem in, its checked warm and cold rows out.
#include "bench/measure.h"

#include <algorithm>
#include <limits>

#include "bench/sampler.h"
#include "bench/verify.h"
#include "launch/timer.h"

namespace convoy::bench {
namespace {

constexpr double kBudgetUs = 150e3;
constexpr double kTuneBudgetUs = 40e3;
constexpr int64_t kColdCap = int64_t{3} << 29;  // 1.5 GiB
constexpr int64_t kColdDevice = int64_t{256} << 20;

// One way to run a plan: packed ahead or inside the call, over one operand set or rotating ones.
class Runner {
 public:
  Runner(const Device& device, const Plan& plan, const OperandSets& sets)
      : device_(device), plan_(plan), sets_(sets), args_(sets.first) {}

  // Each set gets packed weights of its own, so that cold rows read cold weights.
  Status prepare(int64_t count, bool pack_ahead) {
    sets_.count = count;
    if (!pack_ahead) {
      Result<Buffer> workspace = Buffer::allocate(device_, plan_.workspace_bytes());
      if (!workspace) return workspace.status();
      workspace_ = *std::move(workspace);
      args_.workspace = workspace_.data();
      args_.workspace_bytes = workspace_.bytes();
      return {};
    }
    for (auto i = static_cast<int64_t>(packed_.size()); i < count; ++i) {
      Result<PackedWeights> packed = plan_.pack_weights(sets_.first.w);
      if (!packed) return packed.status();
      packed_.push_back(*std::move(packed));
    }
    return {};
  }

  Status run(int64_t i) {
    sets_.select(i, args_);
    if (!packed_.empty()) args_.packed = &packed_[static_cast<size_t>(i % sets_.count)];
    return plan_.run(args_);
  }

  // Runs once over NaN and compares.
  Result<std::string> checked_run() {
    const ConvProblem& problem = plan_.problem();
    for (const Operand& operand : operands(problem)) {
      if (operand.output) fill_nan((sets_.first.*operand.view).data, padded_bytes(operand));
    }
    if (Status s = run(0); !s.ok()) return s;
    return verify(problem, sets_.first, device_);
  }

  Result<Timing> time(double budget_us, const std::function<bool()>& stop) {
    SampleOptions options;
    options.budget_us = budget_us;
    options.stop = stop;
    return time_calls([this](int64_t i) { return run(i); }, options);
  }

 private:
  Device device_;
  Plan plan_;
  OperandSets sets_;
  RunArgs args_;
  std::vector<PackedWeights> packed_;
  Buffer workspace_;
};

bool packs(const Plan& plan, const OperandSets& sets) {
  return plan.problem().pass == Pass::kFprop && plan.pack_weights(sets.first.w).ok();
}

}  // namespace

int64_t cold_bytes(const DeviceInfo& device) {
  if (device.id.backend != Backend::kCpu) return std::max(5 * device.l2_bytes, kColdDevice);
  return std::min(4 * std::max(device.l2_bytes * device.threads, device.l3_bytes), kColdCap);
}

std::string pin(const Device& device) {
  return pin_threads(device);
}

// The plan that is measured; with tuning the fastest, and every candidate's time.
struct Harness::Choice {
  Plan plan;
  std::string impl;
  std::vector<Algorithm> algorithms;
};

Result<Harness::Choice> Harness::choose(const ConvProblem& problem, const OperandSets& sets,
                                        const MeasureOptions& options) const {
  const Result<Plan> first = plan(problem, device_, options.plan);
  if (!first) return first.status();
  Choice choice{*first, options.tune ? "convoy+tune" : "convoy", {}};
  double best_us = std::numeric_limits<double>::infinity();
  for (const Candidate& candidate : first->explain().candidates) {
    if (!options.tune || candidate.verdict == Verdict::kDeclined) continue;
    PlanOptions forced = options.plan;
    if (!forced.kernel.empty() && candidate.kernel != forced.kernel) continue;
    forced.kernel = candidate.kernel;
    const Result<Plan> other = plan(problem, device_, forced);
    if (!other) return other.status();
    Runner runner(device_, *other, sets);
    if (Status s = runner.prepare(1, packs(*other, sets)); !s.ok()) return s;
    const Result<std::string> check = runner.checked_run();
    if (!check) return check.status();
    if (check->rfind("ok", 0) != 0) return Choice{*other, choice.impl, {}};  // its row will fail
    const Result<Timing> timing = runner.time(kTuneBudgetUs, options.stop);
    if (!timing) return timing.status();
    const double us = timing->summary.median_us;
    choice.algorithms.push_back(
        {candidate.kernel, us, static_cast<int64_t>(other->workspace_bytes())});
    if (us >= best_us) continue;
    best_us = us;
    choice.plan = *other;
  }
  return choice;
}

Status Harness::measure_way(const Choice& choice, const OperandSets& sets, bool pack_ahead, Row row,
                            const std::function<bool()>& stop, std::vector<Row>& rows) const {
  Runner runner(device_, choice.plan, sets);
  for (const Cache cache : {Cache::kWarm, Cache::kCold}) {
    row.cache = cache;
    if (Status s = runner.prepare(cache == Cache::kWarm ? 1 : sets.count, pack_ahead); !s.ok()) {
      return s;
    }
    if (cache == Cache::kWarm) {
      const Result<std::string> check = runner.checked_run();
      if (!check) return check.status();
      row.check = *check;
      if (!passed(row)) {
        clear_times(row);
        rows.push_back(row);
        return {};
      }
    }
    const Result<Timing> timing = runner.time(kBudgetUs, stop);
    if (!timing) return timing.status();
    add_times(row, *timing);
    row.algorithms = choice.algorithms;
    if (row.algorithms.empty()) {
      row.algorithms = {
          {row.kernel, row.median_us, static_cast<int64_t>(choice.plan.workspace_bytes())}};
    }
    judge(row, choice.plan.problem().dtype, device_.info().ceilings);
    rows.push_back(row);
  }
  return {};
}

Result<std::vector<Row>> Harness::measure(const ConvProblem& problem, const std::string& workload,
                                          const MeasureOptions& options) {
  const Result<OperandSets> sets = make_sets(problem, cold_bytes_, 2, slab_);
  if (!sets) return sets.status();
  const Result<Choice> choice = choose(problem, *sets, options);
  if (!choice) return choice.status();
  std::vector<Row> rows;
  const bool can_pack = packs(choice->plan, *sets);
  for (const bool pack_ahead : {true, false}) {
    if (pack_ahead && !can_pack) continue;
    const Row row =
        describe(choice->plan, workload, choice->impl + (can_pack && !pack_ahead ? "+pack" : ""));
    if (Status s = measure_way(*choice, *sets, pack_ahead, row, options.stop, rows); !s.ok()) {
      return s;
    }
  }
  return rows;
}

}  // namespace convoy::bench
