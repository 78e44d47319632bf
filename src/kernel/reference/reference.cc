// Reference kernels: the plain loop nest that judges all others, any strides, f64 sums.
#include "kernel/kernel.h"
#include "kernel/reference/sums.h"
#include "launch/cpu/parallel.h"

namespace convoy {
namespace {

struct State {
  ConvProblem problem;
  int threads;
};

// Stores f({a,b,c,d,e}) at every index of the result, in parallel over its two outer axes.
template <class T, class F>
void fill(const State& state, const Operand<T>& out, const F& f) {
  const auto [A, B, C, D, E] = result_extents(state.problem);
  const int64_t inner_b = B, c_end = C, d_end = D, e_end = E;
  parallel_for(A * B, state.threads, [&, inner_b, c_end, d_end, e_end](int64_t i) {
    const int64_t a = i / inner_b, b = i % inner_b;
    for (int64_t c = 0; c < c_end; ++c) {
      for (int64_t d = 0; d < d_end; ++d) {
        for (int64_t e = 0; e < e_end; ++e) {
          out.at(a, b, c, d, e) = round_to<T>(f(std::array<int64_t, 5>{a, b, c, d, e}));
        }
      }
    }
  });
}

template <class T>
void run_fprop(const State& state, const RunArgs& args) {
  const ConvProblem& p = state.problem;
  const auto x = operand<const T>(args.x), w = operand<const T>(args.w);
  fill(state, operand<T>(args.y), [&](const std::array<int64_t, 5>& at) {
    double v = fprop_sum<T>(p, x, w, at).value;
    if (p.bias == BiasType::kSame) v += to_f64(operand<const T>(args.bias).at(at[1], 0, 0, 0, 0));
    if (p.bias == BiasType::kF32) v += operand<const float>(args.bias).at(at[1], 0, 0, 0, 0);
    return activate(p.activation, v);
  });
}

template <class T>
void run_dgrad(const State& state, const RunArgs& args) {
  const auto dy = operand<const T>(args.dy), w = operand<const T>(args.w);
  fill(state, operand<T>(args.dx), [&](const std::array<int64_t, 5>& at) {
    return dgrad_sum<T>(state.problem, dy, w, at).value;
  });
}

template <class T>
void run_wgrad(const State& state, const RunArgs& args) {
  const ConvProblem& p = state.problem;
  const auto x = operand<const T>(args.x), dy = operand<const T>(args.dy);
  if (!args.dw.empty()) {
    fill(state, operand<T>(args.dw),
         [&](const std::array<int64_t, 5>& at) { return wgrad_sum<T>(p, x, dy, at).value; });
  }
  if (args.db.empty()) return;
  const auto store = [&](const auto& db) {
    using B = std::remove_reference_t<decltype(*db.data)>;
    parallel_for(p.K, state.threads,
                 [&](int64_t k) { db.at(k, 0, 0, 0, 0) = round_to<B>(db_sum<T>(p, dy, k).value); });
  };
  if (p.bias == BiasType::kF32) {
    store(operand<float>(args.db));
  } else {
    store(operand<T>(args.db));
  }
}

Status run(const void* opaque, const RunArgs& args, const void*, Stream) {
  const State& state = *static_cast<const State*>(opaque);
  with_type(state.problem.dtype, [&](auto* type) {
    using T = std::remove_pointer_t<decltype(type)>;
    if (state.problem.pass == Pass::kFprop) run_fprop<T>(state, args);
    if (state.problem.pass == Pass::kDgrad) run_dgrad<T>(state, args);
    if (state.problem.pass == Pass::kWgrad) run_wgrad<T>(state, args);
  });
  return {};
}

std::optional<Decline> declines(const ConvProblem&, const DeviceInfo&) {
  return {};
}

Config configure(const ConvProblem& p, const DeviceInfo&) {
  return {.text = "loops/f64", .executed_flops = flops(p)};
}

// About 0.7 ns for a product in a chain of f64 additions.
double estimate_us(const ConvProblem& p, const Config&, const DeviceInfo& device) {
  return static_cast<double>(flops(p)) / 2 * 0.7e-3 / device.threads;
}

Result<Launchable> bind(const ConvProblem& p, const Config&, const Device& device) {
  return Launchable{.state = std::make_shared<State>(State{p, device.info().threads}), .run = run};
}

}  // namespace

extern const Kernel cpu_reference_fprop, cpu_reference_dgrad, cpu_reference_wgrad;
const Kernel cpu_reference_fprop = {declines, configure, estimate_us, bind};
const Kernel cpu_reference_dgrad = cpu_reference_fprop;
const Kernel cpu_reference_wgrad = cpu_reference_fprop;

}  // namespace convoy
