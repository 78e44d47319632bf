// Exact integer cases through every kernel and ISA tier that a device can run.
#include "bench/selftest.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "bench/compile_ahead.h"
#include "bench/exact_case.h"

namespace convoy::bench {
namespace {

constexpr int kCompileThreads = 8;

template <class T>
bool contains(const std::vector<T>& list, T value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

using Claim = std::tuple<std::string, Pass, DType, Layout>;  // of a roster row
using Variant = std::tuple<Pass, DType, Layout>;
using Key = std::tuple<Isa, Claim>;

class Selftest {
 public:
  Selftest(const Device& device, const SelftestOptions& options)
      : options_(options), device_(device), tiers_(tier_devices(device)) {
    for (const KernelFacts& facts : kernels()) {
      const bool asked = options.plan.kernel.empty() || options.plan.kernel == facts.name;
      if (facts.backend == device.info().id.backend && asked) kernels_.push_back(facts);
    }
  }

  Result<SelftestReport> run() {
    if (kernels_.empty()) {
      return invalid(
          fmt::format("selftest: kernel '{}' is not in the roster of this device; "
                      "`convoy manifest list` names them",
                      options_.plan.kernel));
    }
    std::vector<Variant> variants;
    for (const Pass pass : {Pass::kFprop, Pass::kDgrad, Pass::kWgrad}) {
      for (const DType dtype : {DType::kF32, DType::kTf32, DType::kF16, DType::kBf16}) {
        for (const Layout layout : {Layout::kNchw, Layout::kNhwc})
          variants.emplace_back(pass, dtype, layout);
      }
    }
    if (device_.info().id.backend != Backend::kCpu) compile(variants);
    const size_t total = variants.size() * case_texts().size();
    size_t done = 0;
    for (const auto& [pass, dtype, layout] : variants) {
      for (const CaseText& text : case_texts()) {
        if (options_.stop && options_.stop()) return report();
        if (Status s = run_case(text, pass, dtype, layout); !s.ok()) return s;
        if (options_.progress) options_.progress(++done, total);
      }
    }
    return report();
  }

 private:
  void compile(const std::vector<Variant>& variants) {
    std::vector<ConvProblem> problems;
    for (const auto& [pass, dtype, layout] : variants) {
      for (const CaseText& text : case_texts())
        problems.push_back(variant_of(text, pass, dtype, layout));
    }
    ahead_ = compile_ahead(problems, device_,
                           {.plan = options_.plan,
                            .every_kernel = true,
                            .threads = kCompileThreads,
                            .stop = options_.stop});
  }

  Status run_case(const CaseText& text, Pass pass, DType dtype, Layout layout) {
    const ConvProblem problem = variant_of(text, pass, dtype, layout);
    Result<ExactCase> exact = ExactCase::make(text, problem, device_);
    if (!exact) return exact.status();
    for (const Device& tier : tiers_) {
      const Result<Plan> all = plan(problem, tier, {.deterministic = options_.plan.deterministic});
      // Nobody claims the pass: no row of the report either.
      if (all.status().code() == Code::kUnsupported) continue;
      if (!all) return all.status();
      for (const KernelFacts& facts : kernels_) {
        const bool claims = contains(facts.passes, pass) && contains(facts.dtypes, dtype) &&
                            contains(facts.layouts, layout);
        if (!claims) continue;
        SelftestRow& row = rows_[{tier.info().isa, {facts.name, pass, dtype, layout}}];
        if (Status s = ask(facts.name, *all, tier, *exact, row); !s.ok()) return s;
      }
    }
    return {};
  }

  // Runs one kernel on the case, unless it declines.
  Status ask(const std::string& kernel, const Plan& all, const Device& tier, ExactCase& exact,
             SelftestRow& row) const {
    for (const Candidate& c : all.explain().candidates) {
      if (c.kernel != kernel || c.verdict != Verdict::kDeclined) continue;
      ++row.skipped;
      if (row.failed == 0) row.reason = c.reason;
      return {};
    }
    PlanOptions options = options_.plan;
    options.kernel = kernel;
    const Result<Plan> mine = plan(all.problem(), tier, options);
    if (!mine) return mine.status();
    const bool packs =
        mine->problem().pass == Pass::kFprop && mine->pack_weights(exact.weights()).ok();
    for (const bool pack_ahead : {false, true}) {
      if (pack_ahead && !packs) continue;
      const Result<std::string> fault = exact.fault(*mine, tier, pack_ahead);
      if (!fault) return fault.status();
      ++row.cases;
      if (fault->empty()) continue;
      if (row.failed == 0) row.reason = *fault;
      ++row.failed;
    }
    return {};
  }

  SelftestReport report() const {
    SelftestReport result;
    std::map<Claim, int64_t> cases;
    for (const auto& [key, counted] : rows_) {
      const auto& [tier, claim] = key;
      SelftestRow row = counted;
      std::tie(row.kernel, row.pass, row.dtype, row.layout) = claim;
      const bool on_cpu = device_.info().id.backend == Backend::kCpu;
      row.tier = on_cpu ? name(tier) : device_.info().arch;
      cases[claim] += row.cases;
      result.ok = result.ok && row.failed == 0;
      result.rows.push_back(std::move(row));
    }
    for (const auto& [claim, count] : cases)
      result.ok = result.ok && count > 0;
    return result;
  }

  const SelftestOptions& options_;
  Device device_;
  std::vector<Device> tiers_;
  std::vector<KernelFacts> kernels_;
  std::vector<Plan> ahead_;
  std::map<Key, SelftestRow> rows_;
};

}  // namespace

Result<SelftestReport> selftest(const Device& device, const SelftestOptions& options) {
  return Selftest(device, options).run();
}

}  // namespace convoy::bench
