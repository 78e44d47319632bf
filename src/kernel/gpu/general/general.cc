// general: serves every forward problem on a GPU, any views, a thread an output.
#include <algorithm>

#include "base/int_math.h"
#include "base/str.h"
#include "kernel/gpu/bind.h"
#include "kernel/gpu/entry_source.h"
#include "kernel/gpu/general/general_config.h"
#include "kernel/kernel.h"

namespace convoy {
namespace {

constexpr const char* kName = "cuda_general_fprop";
constexpr int kBlocksPerMultiprocessor = 8;
// Multiply-adds a clock of one multiprocessor: two loads and their addresses for each.
constexpr double kMultiplyAddsPerClock = 4;

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
  config.values = {static_cast<int>(blocks)};
  config.text = str(blocks, " blocks of ", kGeneralThreads);
  config.executed_flops = flops(p);
  return config;
}

double estimate_us(const ConvProblem& p, const Config&, const DeviceInfo& device) {
  const double rate = kMultiplyAddsPerClock * device.multiprocessors * device.clock_mhz;
  const double work_us = static_cast<double>(flops(p)) / 2 / std::max(1.0, rate);
  const double chain_us = 0.02 * static_cast<double>(gemm_k(p));  // one thread's loads in turn
  return device.ceilings.fork_join_us + std::max(work_us, chain_us) +
         static_cast<double>(bytes(p)) / (device.ceilings.copy_gbs(bytes(p)) * 1e3);
}

Source source(const ConvProblem& p, const Config&) {
  return entry_source(
      kName, {.header = "kernel/gpu/general/general.cuh",
              .function = "general",
              .config = str("GeneralConfig{", spell(elem_of(p.dtype)), ", ", spell(epilogue_of(p)),
                            ", ", p.layout == Layout::kNhwc ? "true" : "false", "}"),
              .args = "ConvArgs",
              .args_bytes = sizeof(ConvArgs),
              .threads = kGeneralThreads,
              .blocks = kBlocksPerMultiprocessor});
}

Result<Launchable> bind(const ConvProblem& p, const Config& config, const Device& device) {
  const auto arguments = [](const ConvProblem& problem, const Config&, const RunArgs& operands) {
    return conv_args(problem, operands);
  };
  return bind_launch<ConvArgs>(
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
