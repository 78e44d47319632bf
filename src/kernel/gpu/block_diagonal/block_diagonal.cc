// block_diagonal: accepts groups of up to 32 channels, channels last, in 16-bit dtypes.
#include "kernel/gpu/block_diagonal/block_diagonal.h"

#include <algorithm>

#include "base/int_math.h"
#include "base/str.h"
#include "kernel/gpu/bind.h"
#include "kernel/gpu/block_diagonal/block_diagonal_index.h"
#include "kernel/gpu/entry_source.h"

namespace convoy {
namespace {

constexpr const char* kName = "cuda_block_diagonal_fprop_sm80";

// Work of a tile of 16 pixels by 8 channels, in clocks of a multiprocessor (docs: k16 steps at 0.65
// and k8 steps at 0.98 a clock; about 29 instructions beside them at 4 a clock), and what of the
// copy rate the whole reaches.
constexpr double kPairClocks = 1.54, kOddClocks = 1.02, kOtherClocks = 7.5;
constexpr double kCopyShare = 1;
constexpr double kStartUs = 1, kRowUs = 0.6;   // of a block's start, and of one row after another
constexpr double kPrologueRows = 6;            // rows that take as long as the start of a block
constexpr int64_t kLongestSegment = 4096;      // a block counts its outputs in 32 bits
constexpr int64_t kWantedInFlight = 48 << 10;  // bytes of a multiprocessor

int64_t shared_per_block(const DeviceInfo& device) {
  return device.shared_bytes_per_block > 0 ? device.shared_bytes_per_block : 48 << 10;
}
int64_t shared_per_multiprocessor(const DeviceInfo& device) {
  return std::max(device.shared_bytes_per_multiprocessor, shared_per_block(device));
}

// Four tiles store 64 bytes of a pixel at once; wider sums of weights leave room for two.
int tiles_of(BlockDiagonalConfig config) {
  config.tiles = 4;
  config.epilogue = {};
  config.k_warps = config.q_warps = 1;
  return block_diagonal_residents(config, 80) >= 512 / 32 ? 4 : 2;
}

// How far a tiling is from one that wastes neither pixels, channels nor reads.
double waste_of(const ConvProblem& p, const BlockDiagonalConfig& config, int residents) {
  const BlockDiagonalShape shape = shape_of(config);
  const int64_t Q = out_extent(p, 2), column_blocks = ceil_div(Q, shape.width);
  const double padded = static_cast<double>(column_blocks * shape.width) / static_cast<double>(Q) *
                        static_cast<double>(round_up(p.K, shape.outputs)) /
                        static_cast<double>(p.K);
  const int64_t overlap = shape.in_width - shape.width * config.column_stride;
  const double reread = static_cast<double>((column_blocks - 1) * std::max<int64_t>(0, overlap)) /
                        static_cast<double>(p.in[2]);
  const double small = 128.0 / std::min(128U, shape.threads) - 1;
  const double idle = 512.0 / (static_cast<double>(shape.threads) * residents) - 1;
  const double short_reads = shape.block_chunks < 8 ? 8.0 / shape.block_chunks - 1 : 0;
  return 0.5 * (padded - 1) + 0.8 * reread + 0.1 * small + 0.05 * idle + 0.04 * short_reads +
         (config.streams > 1 ? 0.05 : 0.0);
}

// Fewer stages where rows are long, more where they are short.
int stages_of(const BlockDiagonalConfig& config, const DeviceInfo& device) {
  BlockDiagonalConfig tried = config;
  const int64_t residents = block_diagonal_residents(config, compute_capability(device));
  const int64_t row_bytes = shape_of(config).stage_bytes * residents;
  tried.stages =
      static_cast<int>(std::clamp<int64_t>(ceil_div(kWantedInFlight, row_bytes) + 1, 3, 6));
  const auto fits = [&] {
    const int64_t bytes = shared_bytes_of(tried) + 1024;  // what the device keeps for itself
    return bytes <= shared_per_block(device) &&
           bytes * residents <= shared_per_multiprocessor(device);
  };
  while (tried.stages > 2 && !fits())
    --tried.stages;
  return tried.stages;
}

// The tiling of least waste; no residents where the filter fits none.
BlockDiagonalChoice tiling_of(const ConvProblem& p, const DeviceInfo& device) {
  BlockDiagonalConfig config;
  describe(p, config);
  config.tiles = tiles_of(config);
  constexpr struct {
    int streams, q_warps;
  } kColumns[] = {{1, 1}, {1, 2}, {1, 4}, {2, 1}, {4, 1}};
  BlockDiagonalChoice best;
  best.residents = 0;
  double least = 1e30;
  for (const auto columns : kColumns) {
    for (int k_warps = 1; k_warps <= 16 / config.tiles; ++k_warps) {
      BlockDiagonalConfig tried = config;
      tried.streams = columns.streams;
      tried.q_warps = columns.q_warps;
      tried.k_warps = k_warps;
      const int residents = block_diagonal_residents(tried, compute_capability(device));
      if (shape_of(tried).threads > 256 || residents == 0) continue;
      const double waste = waste_of(p, tried, residents);
      if (waste < least - 1e-9) {
        least = waste;
        best.compiled = tried;
        best.residents = residents;
      }
    }
  }
  if (best.residents > 0) best.compiled.stages = stages_of(best.compiled, device);
  return best;
}

// Rows of a strip: long strips read few rows twice, short ones fill the device.
int64_t segment_of(const ConvProblem& p, BlockDiagonalChoice choice, const DeviceInfo& device) {
  const BlockDiagonalConfig& config = choice.compiled;
  choice.segment = 1;
  const BlockDiagonalArgs args = block_diagonal_args(p, choice, {});
  const int64_t rows = ceil_div(out_extent(p, 1), args.phases);
  const double room = static_cast<double>(std::max(1, device.multiprocessors)) * choice.residents;
  double least = 1e30;
  for (int64_t strips = 1; strips <= std::min<int64_t>(rows, 16); ++strips) {
    const int64_t segment = std::min(kLongestSegment, ceil_div(rows, strips));
    const int64_t all =
        ceil_div(int64_t{args.units} / args.strips * ceil_div(rows, segment), config.streams) *
        args.channel_blocks * args.column_blocks;
    const double waves = std::max(1.0, static_cast<double>(all) / room + 0.5);
    const double cost =
        waves * (static_cast<double>(segment * config.row_stride + config.R - 1) + kPrologueRows);
    if (cost < least * 0.99) {
      least = cost;
      choice.segment = segment;
    }
  }
  return choice.segment;
}

BlockDiagonalChoice choice_of(const ConvProblem& p, const Config& config) {
  BlockDiagonalChoice choice;
  describe(p, choice.compiled);
  choice.compiled.tiles = config.values[0];
  choice.compiled.k_warps = config.values[1];
  choice.compiled.q_warps = config.values[2];
  choice.compiled.streams = config.values[3];
  choice.compiled.stages = config.values[4] % 16;
  choice.residents = config.values[4] / 16;
  choice.segment = config.values[5];
  return choice;
}

std::optional<Decline> declines(const ConvProblem& p, const DeviceInfo& device) {
  if (compute_capability(device) < 80) return Decline{"needs compute capability 8.0"};
  if (p.C % 8 != 0 || p.K % 8 != 0) return Decline{"needs c and k in multiples of 8"};
  if (p.cpg() > 32 || p.kpg() > 128) return Decline{"made for groups of up to 32 channels"};
  const int64_t limit = device.index_limit / 2;  // offsets within a row take 32 bits
  for (int d = 0; d < 3; ++d) {
    if (p.in[d] + p.pad_lo[d] + p.pad_hi[d] >= limit || p.filter[d] > 64 || p.dilation[d] > 256) {
      return Decline{str("axis ", "dhw"[d], " is too long")};
    }
  }
  if (p.in[2] * p.C >= limit || out_extent(p, 2) * p.K >= limit ||
      p.N * out_extent(p, 0) * out_extent(p, 1) * ceil_div(out_extent(p, 2), 4) *
              ceil_div(p.K, 16) >=
          2 * limit) {
    return Decline{"a row or the count of blocks exceeds 32 bits"};
  }
  BlockDiagonalConfig config;
  describe(p, config);
  if (config.column_stride > 2 || config.row_stride > config.R) {
    return Decline{"needs a column stride of 1 or 2 and rows that overlap or touch"};
  }
  const int64_t weights = gemm_k(p);
  if (weights > 1024) return Decline{"the filter does not fit registers"};
  const BlockDiagonalChoice choice = tiling_of(p, device);
  if (choice.residents == 0) return Decline{"the filter does not fit registers"};
  if (!can_copy(shape_of(choice.compiled))) {
    return Decline{"reads too many channels for each that it computes"};
  }
  if (shared_bytes_of(choice.compiled) + 1024 > shared_per_block(device)) {
    return Decline{"rows do not fit shared memory"};
  }
  return {};
}

Config configure(const ConvProblem& p, const DeviceInfo& device) {
  const BlockDiagonalChoice choice = tiling_of(p, device);
  const BlockDiagonalConfig& c = choice.compiled;
  const BlockDiagonalShape shape = shape_of(c);
  const int64_t segment = segment_of(p, choice, device);
  Config config;
  config.values = {c.tiles,
                   c.k_warps,
                   c.q_warps,
                   c.streams,
                   c.stages + 16 * choice.residents,
                   static_cast<int>(segment)};
  config.text = str(shape.outputs, "k x ", shape.width, "q x ", segment, "p/",
                    c.streams > 1 ? str(c.streams, " streams/") : "", "s", c.stages);
  config.executed_flops = 2 * p.N * out_extent(p, 0) * out_extent(p, 1) *
                          round_up(out_extent(p, 2), shape.width) * round_up(p.K, shape.outputs) *
                          c.T * c.R * shape.blocks * kChunk;
  return config;
}

double estimate_us(const ConvProblem& p, const Config& config, const DeviceInfo& device) {
  const BlockDiagonalChoice choice = choice_of(p, config);
  const BlockDiagonalConfig& c = choice.compiled;
  const BlockDiagonalShape shape = shape_of(c);
  const double steps = static_cast<double>(c.T) * c.R;
  const u32 pairs = shape.blocks / 2, odd = shape.blocks % 2;
  const double clocks = steps * (pairs * kPairClocks + odd * kOddClocks) + kOtherClocks;
  const double tiles =
      static_cast<double>(config.executed_flops) / (2.0 * 128 * steps * shape.blocks * kChunk);
  const double halo =
      1 + static_cast<double>(c.R - 1) / 4 / static_cast<double>(choice.segment * c.row_stride);
  const double compute_us = tiles * clocks * halo /
                            (std::max(1, device.multiprocessors) * std::max(1.0, device.clock_mhz));
  const double copy_us = static_cast<double>(bytes(p)) * halo /
                         (device.ceilings.copy_gbs(bytes(p)) * kCopyShare * 1e3);
  // A block's rows follow each other, and blocks that find no room wait for others to end.
  const double rows = static_cast<double>(choice.segment * c.row_stride + c.R - 1);
  const double blocks =
      static_cast<double>(block_diagonal_blocks(block_diagonal_args(p, choice, {}), c));
  const double waves =
      std::max(1.0, blocks / (std::max(1, device.multiprocessors) * std::max(1, choice.residents)));
  const double block_us = kStartUs + kRowUs * rows * (0.8 + 0.2 * c.T);
  // Short strips are over before their copies overlap with anything.
  const double bare_us =
      std::min(copy_us, (waves - 1) * block_us) / static_cast<double>(choice.segment);
  return device.ceilings.fork_join_us + bare_us +
         std::max(kStartUs + std::max(copy_us, compute_us), waves * block_us);
}

Source source(const ConvProblem& p, const Config& config) {
  const BlockDiagonalChoice choice = choice_of(p, config);
  const BlockDiagonalConfig& c = choice.compiled;
  return entry_source(kName, {.header = "kernel/gpu/block_diagonal/block_diagonal.cuh",
                              .function = "block_diagonal",
                              .config = spell(c),
                              .args = "BlockDiagonalArgs",
                              .args_bytes = sizeof(BlockDiagonalArgs),
                              .threads = static_cast<int>(shape_of(c).threads),
                              .blocks = choice.residents});
}

Result<Launchable> bind(const ConvProblem& p, const Config& config, const Device& device) {
  const BlockDiagonalChoice choice = choice_of(p, config);
  const auto arguments = [](const ConvProblem& problem, const Config& fixed,
                            const RunArgs& operands) {
    return block_diagonal_args(problem, choice_of(problem, fixed), operands);
  };
  const int64_t blocks = block_diagonal_blocks(block_diagonal_args(p, choice, {}), choice.compiled);
  return bind_launch<BlockDiagonalArgs>(
      device, source(p, config), Views::kPacked16,
      {.problem = p,
       .config = config,
       .shape = {.blocks = static_cast<uint32_t>(blocks),
                 .threads = shape_of(choice.compiled).threads,
                 .shared_bytes = shared_bytes_of(choice.compiled)},
       .arguments = arguments});
}

}  // namespace

extern const Kernel cuda_block_diagonal_fprop_sm80;
const Kernel cuda_block_diagonal_fprop_sm80 = {declines, configure, estimate_us, bind, source};

}  // namespace convoy
