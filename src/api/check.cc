// Compares a result with the f64 reference, element by element, as the contract bounds it.
#include <convoy/convoy.h>

#include <algorithm>
#include <bit>
#include <mutex>
#include <optional>
#include <vector>

#include "api/host_copy.h"
#include "kernel/gpu/judge/judge.h"
#include "kernel/operand.h"
#include "kernel/reference/sums.h"
#include "launch/cpu/parallel.h"

namespace convoy {
namespace {

// A view as f64 in PyTorch's order, so that the reference converts each input once.
struct Wide {
  std::vector<double> values;
  Operand<const double> operand;
};

template <class T>
void widen(const Operand<const T>& from, const std::array<int64_t, 5>& e, std::vector<double>& to) {
  size_t i = 0;
  for (int64_t a = 0; a < e[0]; ++a) {
    for (int64_t b = 0; b < e[1]; ++b) {
      for (int64_t c = 0; c < e[2]; ++c) {
        for (int64_t d = 0; d < e[3]; ++d) {
          for (int64_t f = 0; f < e[4]; ++f)
            to[i++] = to_f64(from.at(a, b, c, d, f));
        }
      }
    }
  }
}

Wide widen(const TensorView& view) {
  Wide wide;
  if (view.empty()) return wide;
  std::array<int64_t, 5> e = {1, 1, 1, 1, 1};
  e[0] = view.sizes[0];
  if (view.rank > 1) e[1] = view.sizes[1];
  for (int i = 2; i < view.rank; ++i)
    e[5 - view.rank + i] = view.sizes[i];
  wide.values.resize(static_cast<size_t>(view.elements()));
  with_type(view.dtype, [&](auto* type) {
    using T = std::remove_pointer_t<decltype(type)>;
    widen<T>(operand<const T>(view), e, wide.values);
  });
  wide.operand = {wide.values.data(),
                  {e[1] * e[2] * e[3] * e[4], e[2] * e[3] * e[4], e[3] * e[4], e[4], 1}};
  return wide;
}

class Comparison {
 public:
  explicit Comparison(const JudgeRule& rule) : rule_(rule) {}

  void add(double y, double ref, double magnitude) {
    const Judgement found = judge(rule_, y, ref, magnitude);
    ok_ = ok_ && found.right;
    max_abs_ = std::max(max_abs_, found.abs_err);
    max_rel_ = std::max(max_rel_, found.rel_err);
  }

  void merge(CheckReport& report) const {
    report.ok = report.ok && ok_;
    report.max_abs_err = std::max(report.max_abs_err, max_abs_);
    report.max_rel_err = std::max(report.max_rel_err, max_rel_);
  }

 private:
  JudgeRule rule_;
  bool ok_ = true;
  double max_abs_ = 0, max_rel_ = 0;
};

// Compares every element of `result` with reference(at), in parallel over its two outer axes.
template <class F>
void compare(const Comparison& fresh, const Wide& result, const std::array<int64_t, 5>& e,
             int threads, const F& reference, CheckReport& report) {
  std::mutex mutex;
  parallel_for(e[0] * e[1], threads, [&](int64_t i) {
    Comparison mine = fresh;
    std::array<int64_t, 5> at = {i / e[1], i % e[1], 0, 0, 0};
    for (at[2] = 0; at[2] < e[2]; ++at[2]) {
      for (at[3] = 0; at[3] < e[3]; ++at[3]) {
        for (at[4] = 0; at[4] < e[4]; ++at[4]) {
          const auto [ref, magnitude] = reference(at);
          mine.add(result.operand.at(at[0], at[1], at[2], at[3], at[4]), ref, magnitude);
        }
      }
    }
    const std::scoped_lock lock(mutex);
    mine.merge(report);
  });
}

int64_t output_count(const ConvProblem& p) {
  return p.N * out_extent(p, 0) * out_extent(p, 1) * out_extent(p, 2);
}

// `args` lie in host memory.
CheckReport check_on_host(const ConvProblem& p, const RunArgs& args, int threads) {
  CheckReport report{.ok = true};
  const Wide x = widen(args.x), w = widen(args.w), bias = widen(args.bias), dy = widen(args.dy);
  const auto extents = result_extents(p);
  if (p.pass == Pass::kFprop) {
    compare(
        Comparison(judge_rule(p, p.dtype, gemm_k(p))), widen(args.y), extents, threads,
        [&](const std::array<int64_t, 5>& at) {
          Sum sum = fprop_sum(p, x.operand, w.operand, at);
          if (p.bias != BiasType::kNone) sum.add(bias.values[static_cast<size_t>(at[1])]);
          return Sum{activate(p.activation, sum.value), sum.magnitude};
        },
        report);
  } else if (p.pass == Pass::kDgrad) {
    compare(
        Comparison(judge_rule(p, p.dtype, gemm_k(p) / p.cpg() * p.kpg())), widen(args.dx), extents,
        threads,
        [&](const std::array<int64_t, 5>& at) { return dgrad_sum(p, dy.operand, w.operand, at); },
        report);
  } else {
    if (!args.dw.empty()) {
      compare(
          Comparison(judge_rule(p, p.dtype, output_count(p))), widen(args.dw), extents, threads,
          [&](const std::array<int64_t, 5>& at) { return wgrad_sum(p, x.operand, dy.operand, at); },
          report);
    }
    if (!args.db.empty()) {
      compare(
          Comparison(judge_rule(p, bias_dtype(p), output_count(p))), widen(args.db),
          {p.K, 1, 1, 1, 1}, threads,
          [&](const std::array<int64_t, 5>& at) { return db_sum(p, dy.operand, at[0]); }, report);
    }
  }
  return report;
}

// Nothing where the CPU has to judge: gradients, operands elsewhere, and devices that cannot
// compile the judge.
std::optional<Result<CheckReport>> check_on_device(const ConvProblem& p, const RunArgs& args,
                                                   const Device& device) {
  if (device.info().id.backend == Backend::kCpu || p.pass != Pass::kFprop) return std::nullopt;
  for (const TensorView* view : {&args.x, &args.w, &args.bias, &args.y}) {
    if (!view->empty() && view->device != device.info().id) return std::nullopt;
  }
  const Result<JudgeFindings> found = judge_on_device(p, args, device);
  if (found.status().code() == Code::kUnavailable) return std::nullopt;
  if (!found) return found.status();
  return CheckReport{.max_abs_err = std::bit_cast<double>(found->max_abs_bits),
                     .max_rel_err = std::bit_cast<double>(found->max_rel_bits),
                     .ok = found->failures == 0};
}

}  // namespace

Result<CheckReport> check(const ConvProblem& p, const RunArgs& args, const Device& device) {
  if (auto answer = check_on_device(p, args, device)) return *answer;
  const Result<Device> judge =
      device.info().id.backend == Backend::kCpu ? device : convoy::device("cpu");
  if (!judge) return judge.status();
  RunArgs host = args;
  std::vector<HostCopy> copies;
  for (TensorView* view :
       {&host.x, &host.w, &host.bias, &host.y, &host.dy, &host.dx, &host.dw, &host.db}) {
    Result<HostCopy> copy = to_host(*view);
    if (!copy) return copy.status();
    *view = copy->view;
    copies.push_back(*std::move(copy));
  }
  return check_on_host(p, host, judge->info().threads);
}

}  // namespace convoy
