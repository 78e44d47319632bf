// general: serves every forward problem on a GPU, any views, a thread an output.
#include <algorithm>

#include "base/int_math.h"
#include "base/str.h"
#include "kernel/gpu/bind.h"
#include "kernel/gpu/entry_source.h"
#include "kernel/gpu/general/general_config.h"
#include "kernel/kernel.h"
#include "tensor/igemm_limits.h"

namespace convoy {
namespace {

constexpr const char* kName = "cuda_general_fprop";
constexpr int kBlocksPerMultiprocessor = 5;  // at 96 registers; 64 spill in 64 bits
// Clocks of a warp on a multiprocessor: two loads and their addresses for each multiply-add, and
// the bounds of each tap.
constexpr double kMultiplyAddClocks = 8, kTapClocks = 8, kOutputClocks = 200;

std::optional<Decline> declines(const ConvProblem&, const DeviceInfo& device) {
  if (compute_capability(device) < 80) return Decline{"needs compute capability 8.0"};
  return {};
}

int64_t outputs(const ConvProblem& p) {
  return p.N * p.K * out_extent(p, 0) * out_extent(p, 1) * out_extent(p, 2);
}

Config configure(const ConvProblem& p, const DeviceInfo& device) {
  Config config;
  const int64_t most = int64_t{std::max(1, device.multiprocessors)} * kBlocksPerMultiprocessor;
  const int64_t blocks = std::clamp<int64_t>(ceil_div(outputs(p), kGeneralThreads), 1, most);
  // The largest 32-bit offset: 2^31 itself is no int.
  config.values = {static_cast<int>(blocks),
                   static_cast<int>(std::min<int64_t>(device.index_limit, kMagicLimit) - 1)};
  config.text = str(blocks, " blocks of ", kGeneralThreads);
  config.executed_flops = flops(p);
  return config;
}

double estimate_us(const ConvProblem& p, const Config&, const DeviceInfo& device) {
  const double depth = static_cast<double>(gemm_k(p));
  const double taps = static_cast<double>(p.filter[0] * p.filter[1] * p.filter[2]);
  const double clocks = static_cast<double>(outputs(p)) / 32 *
                        (depth * kMultiplyAddClocks + taps * kTapClocks + kOutputClocks);
  const double work_us =
      clocks / std::max(1.0, std::max(1, device.multiprocessors) * device.clock_mhz);
  const double chain_us = 0.1 * depth;  // one thread's loads in turn
  return device.ceilings.fork_join_us + 1.5 + std::max(work_us, chain_us) +
         static_cast<double>(bytes(p)) / (device.ceilings.copy_gbs(bytes(p)) * 1e3);
}

Source source(const ConvProblem& p, const Config&) {
  return entry_source(
      kName, {.header = "kernel/gpu/general/general.cuh",
              .function = "general",
              .config = str("GeneralConfig{", spell(elem_of(p.dtype)), ", ", spell(epilogue_of(p)),
                            ", ", p.layout == Layout::kNhwc ? "true" : "false", "}"),
              .args = "GeneralArgs",
              .args_bytes = sizeof(GeneralArgs),
              .threads = kGeneralThreads,
              .blocks = kBlocksPerMultiprocessor});
}

GeneralArgs arguments(const ConvProblem& p, const Config& config, const RunArgs& operands) {
  GeneralArgs args = {};
  static_cast<ConvArgs&>(args) = conv_args(p, operands);
  const int64_t limit = int64_t{config.values[1]} + 1;
  args.narrow = outputs(p) < limit && fits_i32(args.sizes, kGeneralThreads, limit);
  return args;
}

Result<Launchable> bind(const ConvProblem& p, const Config& config, const Device& device) {
  return bind_launch<GeneralArgs>(
      device, source(p, config), Views::kAny,
      {.problem = p,
       .config = config,
       .shape = {.blocks = static_cast<uint32_t>(config.values[0]), .threads = kGeneralThreads},
       .arguments = arguments});
}

}  // namespace

extern const Kernel cuda_general_fprop;
const Kernel cuda_general_fprop = {declines, configure, estimate_us, bind, source};

}  // namespace convoy
