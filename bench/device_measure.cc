// The harness on a GPU.
#include "bench/device_measure.h"

#include <algorithm>
#include <limits>

#include "bench/compile_ahead.h"
#include "bench/copy_times.h"
#include "bench/device_sets.h"
#include "bench/verify.h"

namespace convoy::bench {
namespace {

constexpr double kBudgetUs = 50e3;
constexpr double kTuneBudgetUs = 10e3;
constexpr int64_t kMostSets = 1024;  // nodes of a graph; smaller sets are flushed between replays
constexpr int kSingleCalls = 5;

struct Choice {
  Plan plan;
  std::string impl;
  std::vector<Algorithm> algorithms;
};

// One plan over one operand set or rotating ones.
struct Runner {
  Device device;
  Plan plan;
  OperandSets sets;
  RunArgs args = {};
  Buffer workspace = {};
  double single_us = 0;

  Status prepare() {
    args = sets.first;
    Result<Buffer> memory = Buffer::allocate(device, plan.workspace_bytes());
    if (!memory) return memory.status();
    workspace = *std::move(memory);
    args.workspace = workspace.data();
    args.workspace_bytes = workspace.bytes();
    return {};
  }

  Status run(Stream stream, int64_t i, int64_t count) {
    sets.select(i % count, args);
    return plan.run(args, stream);
  }

  // The median of single calls on a stream, each waited for: what the host adds shows here.
  Status time_single(Stream stream) {
    std::vector<double> singles;
    for (int i = 0; i < kSingleCalls + 1; ++i) {
      const double start = now_us();
      if (Status s = run(stream, 0, 1); !s.ok()) return s;
      if (Status s = synchronize(device, stream); !s.ok()) return s;
      if (i > 0) singles.push_back(now_us() - start);
    }
    single_us = percentile(singles, 0.5);
    return {};
  }

  // Fills the outputs of set i with NaN.
  Status poison(int64_t i, Pools& pools) {
    RunArgs at = sets.first;
    sets.select(i, at);
    for (const Operand& operand : operands(plan.problem())) {
      if (!operand.output) continue;
      if (Status s = pools.fill_nan((at.*operand.view).data, padded_bytes(operand)); !s.ok()) {
        return s;
      }
    }
    return {};
  }

  Result<std::string> verify_set(int64_t i) {
    RunArgs at = sets.first;
    sets.select(i, at);
    return verify(plan.problem(), at, device);
  }
};

}  // namespace

struct DeviceHarness::State {
  State(const Device& d, GraphTimer t, CacheFlush f)
      : device(d),
        cold_bytes(bench::cold_bytes(d.info())),
        timer(std::move(t)),
        flush(std::move(f)),
        slab(d),
        pools(d),
        copies(d, cold_bytes) {}

  Result<Choice> choose(const ConvProblem& problem, const OperandSets& sets,
                        const MeasureOptions& options);
  // Times the runner in a cache state and checks what the last call of the graph wrote.
  Status time(Runner& runner, Cache cache, double budget_us, const std::function<bool()>& stop,
              Row& row);

  Device device;
  int64_t cold_bytes;
  GraphTimer timer;
  CacheFlush flush;
  Slab slab;
  Pools pools;
  CopyTimes copies;
  std::vector<Plan> ahead;  // keeps their code loaded
};

DeviceHarness::DeviceHarness(std::unique_ptr<State> state) : state_(std::move(state)) {}
DeviceHarness::DeviceHarness(DeviceHarness&& other) noexcept = default;
DeviceHarness& DeviceHarness::operator=(DeviceHarness&& other) noexcept = default;
DeviceHarness::~DeviceHarness() = default;

Result<DeviceHarness> DeviceHarness::create(const Device& device) {
  Result<GraphTimer> timer = GraphTimer::create(device);
  if (!timer) return timer.status();
  Result<CacheFlush> flush = CacheFlush::create(device, bench::cold_bytes(device.info()));
  if (!flush) return flush.status();
  return DeviceHarness(std::make_unique<State>(device, *std::move(timer), *std::move(flush)));
}

void DeviceHarness::compile_ahead(const std::vector<Case>& cases, const MeasureOptions& options,
                                  int threads) {
  std::vector<ConvProblem> problems;
  problems.reserve(cases.size());
  for (const Case& c : cases)
    problems.push_back(c.problem);
  state_->ahead = bench::compile_ahead(problems, state_->device,
                                       {.plan = options.plan,
                                        .every_kernel = options.tune,
                                        .threads = threads,
                                        .stop = options.stop});
}

Status DeviceHarness::State::time(Runner& runner, Cache cache, double budget_us,
                                  const std::function<bool()>& stop, Row& row) {
  const int64_t sets = cache == Cache::kWarm ? 1 : runner.sets.count;
  const bool flushed =
      cache == Cache::kCold && runner.sets.count * runner.sets.set_bytes < cold_bytes;
  const int64_t last = sets - 1;
  if (Status s = runner.poison(last, pools); !s.ok()) return s;
  GraphOptions options{.budget_us = budget_us, .stop = stop};
  if (flushed) options.before = flush;
  // A flushed set is read once; others rotate until the graph is long enough.
  const int64_t calls = flushed ? sets : std::max(sets, calls_of(runner.single_us));
  const Result<Summary> summary = time_graph(
      timer, calls, [&](Stream stream, int64_t i) { return runner.run(stream, i, sets); }, options);
  if (!summary) return summary.status();
  const Result<std::string> check = runner.verify_set(last);
  if (!check) return check.status();
  row.cache = cache;
  row.check = *check;
  add_times(row, {*summary, runner.single_us});
  return {};
}

Result<Choice> DeviceHarness::State::choose(const ConvProblem& problem, const OperandSets& sets,
                                            const MeasureOptions& options) {
  const Result<Plan> first = plan(problem, device, options.plan);
  if (!first) return first.status();
  Choice choice{*first, options.tune ? "convoy+tune" : "convoy", {}};
  double best_us = std::numeric_limits<double>::infinity();
  for (const Candidate& candidate : first->explain().candidates) {
    if (!options.tune || candidate.verdict == Verdict::kDeclined) continue;
    PlanOptions forced = options.plan;
    if (!forced.kernel.empty() && candidate.kernel != forced.kernel) continue;
    forced.kernel = candidate.kernel;
    const Result<Plan> other = plan(problem, device, forced);
    if (!other) return other.status();
    Runner runner{device, *other, sets};
    if (Status s = runner.prepare(); !s.ok()) return s;
    if (Status s = runner.time_single(timer.stream()); !s.ok()) return s;
    Row row;
    if (Status s = time(runner, Cache::kCold, kTuneBudgetUs, options.stop, row); !s.ok()) return s;
    if (!passed(row)) return Choice{*other, choice.impl, {}};  // its row will fail
    choice.algorithms.push_back(
        {candidate.kernel, row.median_us, static_cast<int64_t>(other->workspace_bytes())});
    if (row.median_us >= best_us) continue;
    best_us = row.median_us;
    choice.plan = *other;
  }
  return choice;
}

Result<std::vector<Row>> DeviceHarness::measure(const ConvProblem& problem,
                                                const std::string& workload,
                                                const MeasureOptions& options) {
  const Result<OperandSets> sets = make_device_sets(problem, state_->device, state_->cold_bytes,
                                                    kMostSets, state_->slab, state_->pools);
  if (!sets) return sets.status();
  const Result<Choice> choice = state_->choose(problem, *sets, options);
  if (!choice) return choice.status();
  Runner runner{state_->device, choice->plan, *sets};
  if (Status s = runner.prepare(); !s.ok()) return s;
  if (Status s = runner.time_single(state_->timer.stream()); !s.ok()) return s;
  std::vector<Row> rows;
  for (const Cache cache : {Cache::kWarm, Cache::kCold}) {
    Row row = describe(choice->plan, workload, choice->impl);
    if (Status s = state_->time(runner, cache, kBudgetUs, options.stop, row); !s.ok()) return s;
    if (!passed(row)) {
      clear_times(row);
      return std::vector<Row>{row};
    }
    row.algorithms = choice->algorithms;
    if (row.algorithms.empty()) {
      row.algorithms = {
          {row.kernel, row.median_us, static_cast<int64_t>(choice->plan.workspace_bytes())}};
    }
    const Result<double> copy_us =
        state_->copies.us(row.bytes, cache, state_->timer, state_->flush);
    if (!copy_us) return copy_us.status();
    judge(row, problem.dtype, state_->device.info().ceilings, *copy_us);
    rows.push_back(row);
  }
  return rows;
}

}  // namespace convoy::bench
