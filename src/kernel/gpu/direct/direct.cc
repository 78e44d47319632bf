// direct: accepts groups of few channels in every dtype and both layouts.
#include "kernel/gpu/direct/direct.h"

#include <algorithm>
#include <cmath>

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

// Fits the rows of an H200. Batch 1 waits, for weights above all; large batches issue.
constexpr double kStartUs = 1;       // of a block: arguments, first addresses, last stores
constexpr double kStepUs = 0.6;      // from a load to its first product, where nothing overlaps
constexpr double kStageUs = 0.5;     // of weights fetched at once, to shared memory
constexpr double kStageClocks = 12;  // of one warp's share of 32 staged weights
constexpr double kWorkShare = 0.6;   // of the peak of instructions

// What one thread does for a position, counted.
struct Work {
  double steps = 0;       // unrolled filter rows of a vector of channels, one after another
  double issued = 0;      // instructions
  double wavefronts = 0;  // of 128 bytes of the first-level cache, a warp's
};

// Widening 16-bit elements runs at half the rate of a multiply-add.
Work work_of(const ConvProblem& p, const DirectConfig& c) {
  const DirectShape s = shape_of(c);
  const bool last = c.channels_last, elementwise = c.cpg == 1 && c.kpg == 1;
  const double size = static_cast<double>(size_of(p.dtype));
  const double inputs = last && !elementwise ? c.vector : 1;
  const double sums = c.k_tile * c.p_tile * c.q_tile;
  const double rows = std::min(s.window_rows, c.p_tile * c.rows);
  const double loads = rows * (last ? std::min(s.window_columns, c.q_tile * c.S) : s.vectors);
  const double weights = c.k_tile * c.rows * c.S * inputs;
  const double wide = size == 2 ? 2 : 0;
  // Neighbouring lanes lie a tile apart (channels first): a scalar load touches as many lines as a
  // vector does.
  const double load = last ? c.vector : c.q_tile * c.column_stride;
  const double store = last ? c.k_tile : c.q_tile;
  const double stores = sums / (last ? c.k_tile : c.store);
  Work work;
  work.steps = static_cast<double>(p.filter[0] * p.filter[1]) / c.rows *
               static_cast<double>(p.cpg()) / inputs;
  work.issued = work.steps * (sums * c.rows * c.S * inputs + loads * (c.vector * wide + 3) +
                              weights * (last ? 0.5 : 2)) +
                6 * sums + 80;
  work.wavefronts = work.steps * (loads * std::clamp(load * size / 4, 1.0, 32.0) +
                                  (last ? weights / c.k_tile : weights)) +
                    stores * std::max(1.0, store * size / 4);
  return work;
}

// Weights that each thread of a block brings to shared memory.
double staged_of(const DirectChoice& choice) {
  const DirectConfig& c = choice.compiled;
  if (!c.channels_last) return 0;
  const DirectShape s = shape_of(c);
  const int times = s.staged_rows == c.T * c.R ? 1 : choice.walk;
  return static_cast<double>(c.T * c.R * s.taps) * s.channels / kDirectThreads * times;
}

double estimate_us(const ConvProblem& p, const Config& config, const DeviceInfo& device) {
  const DirectChoice choice = choice_of(p, config);
  const DirectConfig& c = choice.compiled;
  const Work work = work_of(p, c);
  const double staged = staged_of(choice);
  const double mhz = std::max(1.0, device.clock_mhz);
  const double multiprocessors = std::max(1, device.multiprocessors);
  const double blocks = static_cast<double>(direct_blocks(direct_args(p, choice, {}), c));
  const double warps = blocks * kDirectThreads / 32;
  const double clocks = warps * (choice.walk * std::max(work.issued / 4, 1.5 * work.wavefronts) +
                                 staged * kStageClocks);
  const double work_us = clocks / (multiprocessors * kWorkShare * mhz);
  const double copy_us =
      static_cast<double>(bytes(p)) / (std::max(1.0, device.ceilings.copy_gbs(bytes(p))) * 1e3);
  const double staging_us = staged > 0 ? kStageUs * (1 + std::ceil(staged / kStagedAtOnce)) : 0;
  // A block's stages and steps wait for each other, whatever else the device has to do.
  const double waves = std::max(1.0, blocks / (multiprocessors * c.blocks));
  const double chain_us =
      waves * (staging_us + choice.walk * (work.steps * kStepUs + work.issued / mhz));
  return device.ceilings.fork_join_us + kStartUs + std::max({work_us, copy_us, chain_us}) +
         0.15 * std::min(work_us, copy_us);
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
