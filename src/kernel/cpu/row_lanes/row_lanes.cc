// cpu_row_lanes_fprop: vectors along the output row of channels-first tensors.
#include "kernel/cpu/row_lanes/row_lanes.h"

#include "base/str.h"
#include "kernel/cpu/cost.h"
#include "kernel/cpu/row_lanes/row_lanes_shape.h"
#include "kernel/cpu/simd/simd.h"
#include "kernel/cpu/tasks.h"
#include "kernel/cpu/tier.h"
#include "kernel/kernel.h"
#include "kernel/operand.h"
#include "kernel/reference/sums.h"
#include "launch/cpu/parallel.h"

namespace convoy {
namespace {

struct State {
  ConvProblem problem;
  int threads, lanes;
  double work_us;  // on one thread
  void (*task)(const RowLanesArgs&, int64_t);
};

RowLanesArgs row_lanes_args(const ConvProblem& p, const RunArgs& operands, int lanes) {
  RowLanesArgs a{geometry(p, operands)};
  a.G = p.G;
  int64_t w_stride = 1;
  for (int d = 4; d >= 0; --d) {
    a.w_stride[d] = w_stride;
    w_stride *= d > 1 ? a.filter[d - 2] : a.cpg;
  }
  shape_row_lanes(a, lanes);
  return a;
}

// The arguments for packed operands.
RowLanesArgs packed_args(const ConvProblem& p, int lanes) {
  const auto view = [&](const Shape& shape) { return packed(nullptr, p.dtype, shape.span()); };
  return row_lanes_args(p, {.x = view(x_shape(p)), .y = view(y_shape(p))}, lanes);
}

std::optional<Decline> declines(const ConvProblem& p, const DeviceInfo&) {
  if (p.filter[2] > RowLanesArgs::kMaxS) {
    return Decline{str("takes filters of at most ", RowLanesArgs::kMaxS, " columns")};
  }
  return {};
}

int64_t executed_flops(const ConvProblem& p, const RowLanesArgs& a, int lanes) {
  return 2 * a.N * p.K * a.out[0] * a.rows * round_up(a.columns, lanes) * gemm_k(p);
}

Config configure(const ConvProblem& p, const DeviceInfo& device) {
  const int lanes = tier_lanes(device.isa);
  const RowLanesArgs a = packed_args(p, lanes);
  return {.text = str(tier_name(device.isa), "/", row_lanes_tile_text(a, lanes)),
          .executed_flops = executed_flops(p, a, lanes)};
}

// Microseconds on one thread: multiply-adds at two a cycle, or the loads that
// they need.
double work_us(const ConvProblem& p, const DeviceInfo& device) {
  const int lanes = tier_lanes(device.isa);
  const RowLanesArgs a = packed_args(p, lanes);
  const double fma_us =
      static_cast<double>(executed_flops(p, a, lanes)) / (thread_gflops(device) * 1e3);
  const double items = static_cast<double>(a.items);
  constexpr double kItemUs = 0.03;  // walking to the next item, masks, bias
  return fma_us * row_lanes_loads_per_fma(a, lanes) * 1.2 + items * kItemUs;
}

double estimate_us(const ConvProblem& p, const Config&, const DeviceInfo& device) {
  const double one = work_us(p, device);
  return spread_us(one, worthwhile_threads(one, device.threads), bytes(p), device);
}

// 16-bit weights as f32 in the order (K,C/g,T,R,S).
template <class T>
void pack_as_f32(const ConvProblem& p, const TensorView& view, float* packed) {
  const Operand<const T> w = operand<const T>(view);
  for (int64_t k = 0; k < p.K; ++k) {
    for (int64_t c = 0; c < p.cpg(); ++c) {
      for_each_tap(
          p, [&](int64_t t, int64_t r, int64_t s) { *packed++ = widen(w.at(k, c, t, r, s)); });
    }
  }
}

void pack(const void* opaque, const TensorView& w, void* packed) {
  const ConvProblem& p = static_cast<const State*>(opaque)->problem;
  auto* out = static_cast<float*>(packed);
  if (p.dtype == DType::kF16) return pack_as_f32<F16>(p, w, out);
  pack_as_f32<Bf16>(p, w, out);
}

Status run(const void* opaque, const RunArgs& args, const void* packed, Stream) {
  const State& state = *static_cast<const State*>(opaque);
  RowLanesArgs a = row_lanes_args(state.problem, args, state.lanes);
  if (packed != nullptr) {
    a.w = static_cast<const float*>(packed);
  } else {
    const Operand<const float> w = operand<const float>(args.w);
    a.w = w.data;
    std::copy(w.stride.begin(), w.stride.end(), a.w_stride);
    if (a.depth_is_rows) std::swap(a.w_stride[2], a.w_stride[3]);
  }
  a.items_per_task =
      items_per_task(a.items, state.work_us / static_cast<double>(a.items), state.threads);
  parallel_for(ceil_div(a.items, a.items_per_task), state.threads,
               [&](int64_t task) { state.task(a, task); });
  return {};
}

Result<Launchable> bind(const ConvProblem& p, const Config&, const Device& device) {
  const DeviceInfo& info = device.info();
  const double one = work_us(p, info);
  const State state{.problem = p,
                    .threads = worthwhile_threads(one, info.threads),
                    .lanes = tier_lanes(info.isa),
                    .work_us = one,
                    .task = CONVOY_PICK_TIER(info.isa, row_lanes)};
  Launchable launchable{
      .state = std::make_shared<State>(state), .views = Views::kUnitInner, .run = run};
  if (size_of(p.dtype) == 2) {
    launchable.packed_bytes = static_cast<size_t>(p.K * gemm_k(p)) * sizeof(float);
    launchable.pack = pack;
  }
  return launchable;
}

}  // namespace

extern const Kernel cpu_row_lanes_fprop;
const Kernel cpu_row_lanes_fprop = {declines, configure, estimate_us, bind};

}  // namespace convoy
