// From a problem to what a block-diagonal kernel is compiled with and launched with.
#include <algorithm>
#include <numeric>

#include "base/int_math.h"
#include "base/str.h"
#include "kernel/gpu/block_diagonal/block_diagonal.h"
#include "kernel/gpu/block_diagonal/block_diagonal_index.h"
#include "kernel/gpu/entry_source.h"

namespace convoy {

namespace {

// Input rows of one phase are `step` apart; its outputs are `stride` of those apart.
struct RowWalk {
  int64_t step, stride, phases;
};
RowWalk row_walk(const ConvProblem& p) {
  // One filter row reads one input row per output: those are the rows of one phase.
  const int64_t dilation = p.filter[1] == 1 ? p.stride[1] : p.dilation[1];
  const int64_t common = std::gcd(p.stride[1], dilation);
  return {.step = dilation, .stride = p.stride[1] / common, .phases = dilation / common};
}

}  // namespace

void describe(const ConvProblem& p, BlockDiagonalConfig& config) {
  config.elem = elem_of(p.dtype);
  config.epilogue = epilogue_of(p);
  config.cpg = static_cast<int>(p.cpg());
  config.kpg = static_cast<int>(p.kpg());
  config.T = static_cast<int>(p.filter[0]);
  config.R = static_cast<int>(p.filter[1]);
  config.S = static_cast<int>(p.filter[2]);
  config.row_stride = static_cast<int>(row_walk(p).stride);
  config.column_stride = static_cast<int>(p.stride[2]);
  config.column_dilation = p.filter[2] == 1 ? 1 : static_cast<int>(p.dilation[2]);
}

// Counted in reports of ptxas for sm_80 to sm_120: weights and sums, then fragments and addresses.
int block_diagonal_registers(const BlockDiagonalConfig& config) {
  const BlockDiagonalShape shape = shape_of(config);
  const int tiles = config.tiles;
  int needed = config.T * config.R * tiles * static_cast<int>(shape.blocks) +
               4 * tiles * static_cast<int>(shape.live);
  if (config.epilogue.bias != BiasKind::kNone) needed += 6;
  if (config.epilogue.act > Act::kRelu6) needed += 24;
  if (config.streams > 1) needed += 12;
  if (config.T > 1) needed += 16;
  if (!shape.regular && shape.sets > 1) needed += 24;
  if (needed <= 90) return 128;
  if (needed <= 124) return 168;
  return needed <= 190 ? 255 : 0;
}

int block_diagonal_residents(const BlockDiagonalConfig& config) {
  const int registers = block_diagonal_registers(config);
  const int threads = registers <= 128 ? 512 : registers <= 168 ? 384 : 256;
  return std::max(1, threads / static_cast<int>(shape_of(config).threads));
}

BlockDiagonalArgs block_diagonal_args(const ConvProblem& p, const BlockDiagonalChoice& choice,
                                      const RunArgs& operands) {
  const BlockDiagonalShape shape = shape_of(choice.compiled);
  const RowWalk walk = row_walk(p);
  BlockDiagonalArgs args = {};
  static_cast<ConvArgs&>(args) = conv_args(p, operands);
  const int64_t strips = ceil_div(ceil_div(out_extent(p, 1), walk.phases), choice.segment);
  args.channel_blocks = static_cast<u32>(ceil_div(p.K, shape.outputs));
  args.column_blocks = static_cast<u32>(ceil_div(out_extent(p, 2), shape.width));
  args.strips = static_cast<u32>(strips);
  args.phases = static_cast<u32>(walk.phases);
  args.units = static_cast<u32>(p.N * out_extent(p, 0) * walk.phases * strips);
  args.segment = static_cast<i32>(choice.segment);
  args.row_step = static_cast<i32>(walk.step);
  const int64_t element = static_cast<int64_t>(size_of(p.dtype));
  args.x_row_bytes = walk.step * args.sizes.x_stride[3] * element;
  args.y_row_bytes = walk.phases * args.sizes.y_stride[3] * element;
  return args;
}

int64_t block_diagonal_blocks(const BlockDiagonalArgs& args, const BlockDiagonalConfig& config) {
  return int64_t{args.channel_blocks} * args.column_blocks * ceil_div(args.units, config.streams);
}

std::string spell(const BlockDiagonalConfig& c) {
  return str("BlockDiagonalConfig{", spell(c.elem), ", ", spell(c.epilogue), ", ", c.cpg, ", ",
             c.kpg, ", ", c.T, ", ", c.R, ", ", c.S, ", ", c.row_stride, ", ", c.column_stride,
             ", ", c.column_dilation, ", ", c.tiles, ", ", c.k_warps, ", ", c.q_warps, ", ",
             c.streams, ", ", c.stages, "}");
}

}  // namespace convoy
