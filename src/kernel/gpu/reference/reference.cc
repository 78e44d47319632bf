// reference: every pass of every problem on a GPU, so that no legal problem is without a taker.
#include "kernel/gpu/reference/reference.h"

#include <algorithm>

#include "base/int_math.h"
#include "base/str.h"
#include "kernel/gpu/bind.h"
#include "kernel/gpu/entry_source.h"
#include "kernel/kernel.h"

namespace convoy {
namespace {

constexpr int kBlocksPerMultiprocessor = 4;
// Multiply-adds a clock of one multiprocessor: two loads, their 64-bit addresses and a conversion.
constexpr double kMultiplyAddsPerClock = 2;

std::optional<Decline> declines(const ConvProblem&, const DeviceInfo& device) {
  if (compute_capability(device) < 80) return Decline{"needs compute capability 8.0"};
  return {};
}

int64_t elements(const ConvProblem& p) {
  if (p.pass == Pass::kWgrad) return p.K * (gemm_k(p) + 1);
  if (p.pass == Pass::kDgrad) return p.N * p.C * p.in[0] * p.in[1] * p.in[2];
  return p.N * p.K * out_extent(p, 0) * out_extent(p, 1) * out_extent(p, 2);
}

Config configure(const ConvProblem& p, const DeviceInfo& device) {
  Config config;
  const int64_t most = int64_t{std::max(1, device.multiprocessors)} * kBlocksPerMultiprocessor;
  const int64_t blocks = std::clamp<int64_t>(ceil_div(elements(p), kReferenceThreads), 1, most);
  config.values = {static_cast<int>(blocks)};
  config.text = str("f64/", blocks, " blocks of ", kReferenceThreads);
  config.executed_flops = flops(p);
  return config;
}

double estimate_us(const ConvProblem& p, const Config&, const DeviceInfo& device) {
  const double rate = kMultiplyAddsPerClock * device.multiprocessors * device.clock_mhz;
  const double products = static_cast<double>(flops(p)) / 2;
  const double chain_us = 0.02 * products / static_cast<double>(std::max<int64_t>(1, elements(p)));
  return device.ceilings.fork_join_us + std::max(products / std::max(1.0, rate), chain_us);
}

Source source(const ConvProblem& p, const Config&) {
  constexpr const char* kPasses[] = {"kFprop", "kDgrad", "kWgrad"};
  const char* pass = kPasses[static_cast<int>(p.pass)];
  return entry_source(str("cuda_reference_", name(p.pass)),
                      {.header = "kernel/gpu/reference/reference.cuh",
                       .function = "reference",
                       .config = str("ReferenceConfig{", spell(elem_of(p.dtype)), ", ",
                                     spell(epilogue_of(p)), ", ReferencePass::", pass, "}"),
                       .args = "ReferenceArgs",
                       .args_bytes = sizeof(ReferenceArgs),
                       .threads = kReferenceThreads,
                       .blocks = kBlocksPerMultiprocessor});
}

Result<Launchable> bind(const ConvProblem& p, const Config& config, const Device& device) {
  const auto arguments = [](const ConvProblem& problem, const Config&, const RunArgs& operands) {
    return reference_args(problem, operands);
  };
  return bind_launch<ReferenceArgs>(
      device, source(p, config), Views::kAny,
      {.problem = p,
       .config = config,
       .shape = {.blocks = static_cast<uint32_t>(config.values[0]), .threads = kReferenceThreads},
       .arguments = arguments});
}

}  // namespace

ReferenceArgs reference_args(const ConvProblem& p, const RunArgs& operands) {
  RunArgs forward = operands;
  if (p.pass == Pass::kDgrad) forward.x = operands.dx;
  if (p.pass == Pass::kWgrad) forward.w = operands.dw;
  if (p.pass != Pass::kFprop) forward.y = operands.dy;
  ReferenceArgs args = {};
  static_cast<ConvArgs&>(args) = conv_args(p, forward);
  const TensorView& out = p.pass == Pass::kFprop   ? operands.y
                          : p.pass == Pass::kDgrad ? operands.dx
                                                   : operands.dw;
  args.out = out.data;
  args.db = operands.db.data;
  args.db_stride = operands.db.empty() ? 0 : operands.db.strides[0];
  return args;
}

extern const Kernel cuda_reference_fprop, cuda_reference_dgrad, cuda_reference_wgrad;
const Kernel cuda_reference_fprop = {declines, configure, estimate_us, bind, source};
const Kernel cuda_reference_dgrad = cuda_reference_fprop;
const Kernel cuda_reference_wgrad = cuda_reference_fprop;

}  // namespace convoy
