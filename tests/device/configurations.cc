// Random problems grouped by what a device kernel compiles in: sizes vary inside a group, so a run
// draws many problems for each compilation.
#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <thread>

#include "base/str.h"
#include "conformance/trial.h"
#include "device/mirror.h"
#include "device/mode.h"
#include "kernel/kernel.h"
#include "launch/timer.h"
#include "plan/choose.h"
#include "support/problems.h"

namespace convoy::test {
namespace {

constexpr size_t kMostFailures = 20;

bool computes(Backend backend, Pass pass) {
  for (const RosterRow& row : roster()) {
    if (row.backend == backend && (row.passes >> static_cast<unsigned>(pass) & 1U) != 0)
      return true;
  }
  return false;
}

// One run over all threads.
class Sweep {
 public:
  explicit Sweep(const Context& context) : context_(context) {
    for (const RosterRow& row : roster()) {
      if (row.backend == context.device.info().id.backend) hits_[row.name] = 0;
    }
  }

  void work() {
    Arena arena(context_.device);
    const Result<OwnStream> timer = OwnStream::create(context_.device);
    if (!timer) return fail(str("stream: ", timer.status().message()));
    while (true) {
      const int64_t i = next_++;
      if (i >= context_.configurations || over()) return;
      run_configuration(static_cast<uint64_t>(i), arena, timer->stream());
      ++configurations_;
    }
  }

  ModeReport report(const char* mode) {
    ModeReport out{.mode = mode, .runs = runs_, .failures = failures_};
    for (const auto& [kernel, count] : hits_) {
      out.facts["hits"][kernel] = count;
      if (count > 0 || !context_.every_kernel) continue;
      out.failures.push_back(str(kernel, " was never run; last declined: ", declined_[kernel]));
    }
    out.facts["configurations"] = configurations_.load();
    return out;
  }

 private:
  bool over() {
    const std::scoped_lock lock(mutex_);
    return failures_.size() >= kMostFailures || now_us() - start_us_ > context_.seconds * 1e6;
  }
  void fail(const std::string& what) {
    const std::scoped_lock lock(mutex_);
    if (failures_.size() < kMostFailures) failures_.push_back(what);
  }

  void run_configuration(uint64_t index, Arena& arena, Stream stream) {
    Random r(context_.seed * 1000003 + index);
    ConvProblem base = random_problem(r);
    if (!computes(context_.device.info().id.backend, base.pass))
      base = for_pass(base, Pass::kFprop);
    for (int64_t i = 0; i < context_.draws && !over(); ++i) {
      const uint64_t seed = r.next();
      Random d(seed);
      const Question q = question_of(d, redraw_sizes(d, base), Isa::kBaseline);
      run_draw(q, d, seed, arena, stream);
    }
  }

  void run_draw(const Question& q, Random& d, uint64_t seed, Arena& arena, Stream stream) {
    const ConvProblem& p = q.problem;
    PlanOptions options{.deterministic = d.chance(0.15)};
    if (d.chance(0.5)) options.kernel = rarest(p);
    const bool check_too = d.chance(0.05);
    const Result<Plan> chosen = plan(p, context_.device, options);
    if (!chosen) return fail(str(to_text(p), " seed ", seed, ": ", chosen.status().message()));
    std::string fault = Answer(q).fault_of_run([&](const Operands& operands) {
      if (Status s = run_on_device(*chosen, operands, arena, stream); !s.ok()) return s;
      return check_too ? checked(p, operands, arena, stream) : Status();
    });
    const std::scoped_lock lock(mutex_);
    ++runs_;
    // With random views the general kernel may have stood in.
    if (!q.any_form) ++hits_[chosen->kernel()];
    if (fault.empty() || failures_.size() >= kMostFailures) return;
    failures_.push_back(str(to_text(p), " by ", chosen->kernel(), " (", chosen->config(), ") seed ",
                            seed, q.any_form ? ", random views" : "",
                            q.non_finite ? ", Inf and NaN" : "", ": ", fault));
  }

  // convoy::check() must pass what the host judges right; a wrong result is the caller's to find.
  Status checked(const ConvProblem& p, const Operands& operands, Arena& arena, Stream stream) {
    Result<DeviceMirror> mirror = DeviceMirror::upload(operands, arena, stream);
    if (!mirror) return mirror.status();
    const Result<CheckReport> report = check(p, mirror->args(), context_.device);
    if (!report) return report.status();
    return report->ok ? Status() : internal("convoy::check finds the result wrong");
  }

  // The accepting kernel with the fewest hits, so that all fill evenly.
  std::string rarest(const ConvProblem& p) {
    const Result<Choice> all = choose(p, context_.device, {});
    if (!all) return "";
    const std::scoped_lock lock(mutex_);
    std::string least;
    for (const Candidate& c : all->explanation.candidates) {
      if (c.verdict == Verdict::kDeclined) {
        declined_[c.kernel] = c.reason;
      } else if (is_reference(c.kernel) && flops(p) > 1 << 17) {
        continue;
      } else if (least.empty() || hits_[c.kernel] < hits_[least]) {
        least = c.kernel;
      }
    }
    return least;
  }

  const Context& context_;
  double start_us_ = now_us();
  std::atomic<int64_t> next_ = 0, configurations_ = 0;
  std::mutex mutex_;
  int64_t runs_ = 0;
  std::map<std::string, int64_t> hits_;
  std::map<std::string, std::string> declined_;
  std::vector<std::string> failures_;
};

}  // namespace

ModeReport sweep(const Context& context, const char* mode) {
  Sweep sweep(context);
  std::vector<std::thread> workers;
  for (int i = 0; i < context.threads; ++i)
    workers.emplace_back([&] { sweep.work(); });
  for (std::thread& worker : workers)
    worker.join();
  return sweep.report(mode);
}

ModeReport run_configurations(const Context& context) {
  return sweep(context, "configurations");
}

}  // namespace convoy::test
