// Field cases on the device: every accepting kernel, in every stored form.
#include <atomic>
#include <mutex>
#include <thread>

#include "base/str.h"
#include "conformance/field_case.h"
#include "device/mirror.h"
#include "device/mode.h"
#include "launch/timer.h"
#include "plan/choose.h"

namespace convoy::test {
namespace {

class Cases {
 public:
  explicit Cases(const Context& context) : context_(context), cases_(field_cases()) {
    start_us_ = now_us();
  }

  void work() {
    Arena arena(context_.device);
    const Result<OwnStream> timer = OwnStream::create(context_.device);
    if (!timer) return fail(str("stream: ", timer.status().message()));
    for (size_t i = next_++; i < cases_.size(); i = next_++) {
      for (const ConvProblem& p : problems_of(cases_[i]))
        run_problem(cases_[i], p, arena, timer->stream());
    }
  }

  ModeReport report() {
    ModeReport out{.mode = "field-cases", .runs = runs_, .failures = failures_};
    out.facts = {{"cases", cases_.size()}, {"problems", problems_}, {"without_kernel", without_}};
    if (left_out_ > 0) {
      out.failures.push_back(str(left_out_, " problems left out, the time is up; raise --seconds"));
    }
    if (cases_.empty()) out.failures.push_back("field_cases.json was not found or has no cases");
    return out;
  }

 private:
  void fail(const std::string& what) {
    const std::scoped_lock lock(mutex_);
    if (failures_.size() < 20) failures_.push_back(what);
  }

  void run_problem(const FieldCase& c, const ConvProblem& p, Arena& arena, Stream stream) {
    if (now_us() - start_us_ > context_.seconds * 1e6) {
      const std::scoped_lock lock(mutex_);
      ++left_out_;
      return;
    }
    const Result<Choice> all = choose(p, context_.device, {});
    const bool lacks = !all && all.status().code() == Code::kUnsupported;
    {
      const std::scoped_lock lock(mutex_);
      ++(lacks && p.pass != Pass::kFprop ? without_ : problems_);
    }
    if (lacks && p.pass != Pass::kFprop) return;
    if (!all) return fail(str(c.id, " ", to_text(p), ": ", all.status().message()));
    for (const Candidate& candidate : all->explanation.candidates) {
      if (candidate.verdict == Verdict::kDeclined) continue;
      const Result<Plan> chosen = plan(p, context_.device, {.kernel = candidate.kernel});
      if (!chosen) {
        fail(str(c.id, " ", to_text(p), " ", candidate.kernel, ": ", chosen.status().message()));
        continue;
      }
      run_forms(c, p, *chosen, arena, stream);
    }
  }

  void run_forms(const FieldCase& c, const ConvProblem& p, const Plan& plan, Arena& arena,
                 Stream stream) {
    const std::vector<Forms> forms = forms_of(c, p);
    for (size_t i = 0; i < forms.size(); ++i) {
      const Operands operands(p, c.values, forms[i]);
      const Status s = run_on_device(plan, operands, arena, stream);
      const std::string fault = s.ok() ? case_fault(c, p, operands) : s.message();
      if (!fault.empty()) {
        fail(str(c.id, " ", to_text(p), " ", plan.kernel(), " form ", i, ": ", fault));
      }
      const std::scoped_lock lock(mutex_);
      ++runs_;
    }
  }

  const Context& context_;
  std::vector<FieldCase> cases_;
  double start_us_ = 0;
  std::atomic<size_t> next_ = 0;
  std::mutex mutex_;
  int64_t runs_ = 0, problems_ = 0, without_ = 0, left_out_ = 0;
  std::vector<std::string> failures_;
};

}  // namespace

ModeReport run_field_cases(const Context& context) {
  Cases cases(context);
  std::vector<std::thread> workers;
  for (int i = 0; i < context.threads; ++i)
    workers.emplace_back([&] { cases.work(); });
  for (std::thread& worker : workers)
    worker.join();
  return cases.report();
}

}  // namespace convoy::test
