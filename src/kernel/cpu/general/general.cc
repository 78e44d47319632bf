// cpu_general_fprop: any problem and any strides; the fallback of the specialised kernels.
#include "kernel/cpu/general/general.h"

#include "base/int_math.h"
#include "base/str.h"
#include "kernel/cpu/cost.h"
#include "kernel/cpu/tasks.h"
#include "kernel/cpu/tier.h"
#include "kernel/kernel.h"
#include "kernel/operand.h"
#include "launch/cpu/parallel.h"

namespace convoy {
namespace {

struct State {
  ConvProblem problem;
  int threads;
  double item_us;  // on one thread
  void (*task)(const GeneralArgs&, int64_t);
};

int64_t item_count(const ConvProblem& p) {
  return p.N * p.G * ceil_div(p.kpg(), GeneralArgs::kBlock) * out_extent(p, 0) * out_extent(p, 1) *
         ceil_div(out_extent(p, 2), GeneralArgs::kChunk);
}

// Microseconds of all items on one thread.
double work_us(const ConvProblem& p, const DeviceInfo& device) {
  const double block = static_cast<double>(std::min<int64_t>(p.kpg(), GeneralArgs::kBlock));
  // A product is a load, a multiply-add and a store of its sum; 1 ns gathers one x value.
  double ns = static_cast<double>(flops(p)) / thread_gflops(device) * 3;
  const bool gathers = p.stride[2] != 1 || p.layout == Layout::kNhwc;
  if (gathers) ns += static_cast<double>(flops(p)) / 2 / block;
  const double row_taps = static_cast<double>(item_count(p) * gemm_k(p));
  return (ns + row_taps * (4 + 2 * block)) * 1e-3;
}

std::optional<Decline> declines(const ConvProblem&, const DeviceInfo&) {
  return {};
}

Config configure(const ConvProblem& p, const DeviceInfo& device) {
  return {.text = str(tier_name(device.isa), "/rows in memory"), .executed_flops = flops(p)};
}

double estimate_us(const ConvProblem& p, const Config&, const DeviceInfo& device) {
  const double one = work_us(p, device);
  return spread_us(one, worthwhile_threads(one, device.threads), bytes(p), device);
}

Status run(const void* opaque, const RunArgs& args, const void*, Stream) {
  const State& state = *static_cast<const State*>(opaque);
  const ConvProblem& p = state.problem;
  GeneralArgs a{geometry(p, args)};
  const auto w = operand<const char>(args.w);
  a.w = w.data;
  std::copy(w.stride.begin(), w.stride.end(), a.w_stride);
  a.G = p.G;
  a.blocks = ceil_div(a.kpg, GeneralArgs::kBlock);
  a.chunks = ceil_div(a.out[2], GeneralArgs::kChunk);
  a.items = item_count(p);
  a.items_per_task = items_per_task(a.items, state.item_us, state.threads);
  parallel_for(ceil_div(a.items, a.items_per_task), state.threads,
               [&](int64_t task) { state.task(a, task); });
  return {};
}

Result<Launchable> bind(const ConvProblem& p, const Config&, const Device& device) {
  const DeviceInfo& info = device.info();
  const double one = work_us(p, info);
  const State state{.problem = p,
                    .threads = worthwhile_threads(one, info.threads),
                    .item_us = one / static_cast<double>(std::max<int64_t>(item_count(p), 1)),
                    .task = CONVOY_PICK_TIER(info.isa, general)};
  return Launchable{.state = std::make_shared<State>(state), .run = run};
}

}  // namespace

extern const Kernel cpu_general_fprop;
const Kernel cpu_general_fprop = {declines, configure, estimate_us, bind};

}  // namespace convoy
