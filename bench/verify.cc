// Compares a result with the f64 reference before any of its times is kept.
#include "bench/verify.h"

#include <fmt/format.h>

namespace convoy::bench {
namespace {

// The reference does about 1e9 of these a second on one core.
constexpr int64_t kWholeFlops = 20'000'000'000;
// A GPU judges its own results.
constexpr int64_t kWholeDeviceFlops = 400'000'000'000;

void narrow(TensorView& view, int64_t n) {
  if (view.empty()) return;
  view.data = static_cast<std::byte*>(view.data) + n * view.strides[0] * size_of(view.dtype);
  view.sizes[0] = 1;
}

Result<std::string> verdict(const ConvProblem& problem, const RunArgs& args, const Device& device,
                            std::string ok) {
  const Result<CheckReport> report = check(problem, args, device);
  if (!report) return report.status();
  if (report->ok) return ok;
  return fmt::format("failed: max_abs_err {:.3g} max_rel_err {:.3g}", report->max_abs_err,
                     report->max_rel_err);
}

}  // namespace

Slice sample_of(const ConvProblem& problem, const RunArgs& args, int64_t n) {
  Slice slice{problem, args};
  slice.problem.N = 1;
  for (TensorView* view : {&slice.args.x, &slice.args.y, &slice.args.dx, &slice.args.dy})
    narrow(*view, n);
  return slice;
}

Result<std::string> verify(const ConvProblem& problem, const RunArgs& args, const Device& device) {
  const bool on_cpu = device.info().id.backend == Backend::kCpu;
  const int64_t most = on_cpu ? kWholeFlops : kWholeDeviceFlops;
  const bool whole = flops(problem) <= most || problem.N <= 2 || problem.pass == Pass::kWgrad;
  if (whole) return verdict(problem, args, device, "ok");
  const int64_t last = problem.N - 1;
  const Slice first = sample_of(problem, args, 0);
  Result<std::string> answer = verdict(first.problem, first.args, device, "ok");
  if (!answer || *answer != "ok") return answer;
  const Slice end = sample_of(problem, args, last);
  return verdict(end.problem, end.args, device,
                 fmt::format("ok: samples 0 and {} of {}", last, problem.N));
}

}  // namespace convoy::bench
