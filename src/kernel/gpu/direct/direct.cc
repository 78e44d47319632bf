// direct: accepts groups of few channels in every dtype and both layouts.
#include "kernel/gpu/direct/direct.h"

#include <algorithm>

#include "base/int_math.h"
#include "base/str.h"
#include "kernel/gpu/bind.h"
#include "kernel/gpu/direct/direct_index.h"
#include "kernel/gpu/entry_source.h"
#include "kernel/kernel.h"

namespace convoy {
namespace {

constexpr const char* kName = "cuda_direct_fprop";
// Channels of a group: more are better off in the tiles of an implicit GEMM, which true f32 has for
// channels last only.
constexpr int64_t kMostChannels = 8;
bool has_gemm(const ConvProblem& p) {
  return p.dtype != DType::kF32 || p.layout == Layout::kNhwc;
}

std::optional<Decline> declines(const ConvProblem& p, const DeviceInfo& device) {
  if (compute_capability(device) < 80) return Decline{"needs compute capability 8.0"};
  if (p.cpg() > kMostChannels && has_gemm(p)) {
    return Decline{str("takes groups of at most ", kMostChannels, " input channels")};
  }
  if (!direct_serves(p)) return Decline{"the window of a thread exceeds its registers"};
  const int64_t largest =
      std::max({p.N * p.C * p.in[0] * p.in[1] * p.in[2], p.K * gemm_k(p),
                p.N * p.K * out_extent(p, 0) * out_extent(p, 1) * out_extent(p, 2)});
  // Coordinates of rows that lie past the tensors are computed, though not read.
  int64_t reach = 0;
  for (int d = 0; d < 3; ++d)
    reach = std::max({reach, p.pad_lo[d], p.in[d] + p.pad_lo[d] + p.pad_hi[d]});
  if (largest >= device.index_limit || reach >= (1 << 20)) {
    return Decline{str("takes offsets below ", device.index_limit)};
  }
  return {};
}

// The choice through a Config and back.
Config config_of(const DirectChoice& choice) {
  const DirectConfig& c = choice.compiled;
  Config config;
  config.values = {
      c.k_tile, c.p_tile, c.q_tile, c.rows * 16 + c.blocks, c.vector, c.lanes * 16 + choice.walk};
  config.text = str(c.k_tile, "x", c.p_tile, "x", c.q_tile, c.rows == c.R ? "" : "/row", "/v",
                    c.vector, c.channels_last ? str("/l", c.lanes, "/w", choice.walk) : "");
  return config;
}

DirectChoice choice_of(const ConvProblem& p, const Config& config) {
  DirectChoice choice;
  DirectConfig& c = choice.compiled;
  const auto& v = config.values;
  c.k_tile = v[0], c.p_tile = v[1], c.q_tile = v[2], c.vector = v[4];
  c.rows = v[3] / 16, c.blocks = v[3] % 16;
  c.lanes = v[5] / 16, choice.walk = v[5] % 16;
  describe(p, c);
  return choice;
}

// Threads that compute, tails of tiles included.
int64_t threads_of(const ConvProblem& p, const DirectChoice& choice) {
  const DirectArgs args = direct_args(p, choice, {});
  return direct_blocks(args, choice.compiled) * kDirectThreads * choice.walk;
}

Config configure(const ConvProblem& p, const DeviceInfo& device) {
  const DirectChoice choice = direct_choice(p, device);
  Config config = config_of(choice);
  const DirectConfig& c = choice.compiled;
  config.executed_flops = 2 * threads_of(p, choice) * c.k_tile * c.p_tile * c.q_tile * gemm_k(p);
  return config;
}

// Of one thread: instructions, and wavefronts of 128 bytes that its warp's loads and stores move.
// Widening 16-bit elements runs at half the rate of a multiply-add.
struct ThreadCost {
  double instructions, wavefronts;
};
ThreadCost thread_cost(const ConvProblem& p, const DirectConfig& c) {
  const DirectShape s = shape_of(c);
  const double steps = static_cast<double>(p.filter[0] * p.cpg() * p.filter[1]) / c.rows;
  const double sums = c.k_tile * c.p_tile * c.q_tile;
  const double rows = std::min(s.window_rows, c.p_tile * c.rows);
  const bool last = c.channels_last;
  const double loads = rows * (last ? std::min(s.window_columns, c.q_tile * c.S) : s.vectors) /
                       (last && p.cpg() > 1 ? c.vector : 1);
  const double wide = size_of(p.dtype) == 2 ? 2 : 0;
  return {steps * (sums * c.rows * c.S + loads * (c.vector * wide + 3)) + 6 * sums + 80,
          steps * loads * std::max(1.0, c.vector * static_cast<double>(size_of(p.dtype)) / 4) +
              sums / 2};
}

// Clocks from a block's first instruction to its last where nothing else runs: a warp issues every
// fifth clock, and weights are staged a load at a time. Fits rows of batch 1 on the H200 (7x7 on
// 768 channels of 7x7: 23.2 us of work, measured 24; 3x3 on 960: 4.2, 3.8).
double lone_clocks(const DirectChoice& choice, const ThreadCost& cost) {
  const DirectConfig& c = choice.compiled;
  const DirectShape s = shape_of(c);
  const double staged = c.channels_last ? static_cast<double>(c.T) * c.R * s.taps * s.channels : 0;
  return 5 * cost.instructions * choice.walk + 500 * staged / kDirectThreads;
}

double estimate_us(const ConvProblem& p, const Config& config, const DeviceInfo& device) {
  const DirectChoice choice = choice_of(p, config);
  const ThreadCost cost = thread_cost(p, choice.compiled);
  // Instructions start at four warps a clock.
  const double clocks = static_cast<double>(threads_of(p, choice)) *
                        std::max(cost.instructions / 4, cost.wavefronts) / 32 /
                        std::max(1, device.multiprocessors);
  const double clock_mhz = std::max(1.0, device.clock_mhz);
  const double work_us =
      std::max(clocks / (0.75 * clock_mhz), lone_clocks(choice, cost) / clock_mhz);
  const double copy_us = static_cast<double>(bytes(p)) /
                         (0.8 * std::max(1.0, device.ceilings.copy_gbs(bytes(p))) * 1e3);
  return device.ceilings.fork_join_us + std::max(work_us, copy_us) +
         0.2 * std::min(work_us, copy_us);
}

Source source(const ConvProblem& p, const Config& config) {
  const DirectConfig c = choice_of(p, config).compiled;
  return entry_source(kName, {.header = "kernel/gpu/direct/direct.cuh",
                              .function = "direct",
                              .config = spell(c),
                              .args = "DirectArgs",
                              .args_bytes = sizeof(DirectArgs),
                              .threads = kDirectThreads,
                              .blocks = c.blocks});
}

Result<Launchable> bind(const ConvProblem& p, const Config& config, const Device& device) {
  const auto arguments = [](const ConvProblem& problem, const Config& chosen,
                            const RunArgs& operands) {
    return direct_args(problem, choice_of(problem, chosen), operands);
  };
  const DirectChoice choice = choice_of(p, config);
  const DirectArgs args = direct_args(p, choice, {});
  return bind_launch<DirectArgs>(
      device, source(p, config), Views::kPacked16,
      {.problem = p,
       .config = config,
       .shape = {.blocks = static_cast<uint32_t>(direct_blocks(args, choice.compiled)),
                 .threads = kDirectThreads,
                 .shared_bytes = static_cast<uint32_t>(shared_bytes_of(choice.compiled))},
       .arguments = arguments});
}

}  // namespace

extern const Kernel cuda_direct_fprop;
const Kernel cuda_direct_fprop = {declines, configure, estimate_us, bind, source};

}  // namespace convoy
