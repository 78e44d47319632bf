// Chooses the tiles of a direct kernel and fills its launch arguments.
#include <algorithm>

#include "base/int_math.h"
#include "base/str.h"
#include "kernel/gpu/direct/direct.h"
#include "kernel/gpu/direct/direct_index.h"
#include "kernel/gpu/entry_source.h"

namespace convoy {
namespace {

constexpr int kMostTaps = 64;       // of a filter row: their weights are registers
constexpr int kMostColumns = 96;    // of a window
constexpr int kMostWeights = 50;    // registers, where whole filters are unrolled
constexpr int kMostSums = 32;       // registers
constexpr int kMostProducts = 850;  // of a thread's unrolled loop: NVRTC and the instruction cache
constexpr int kBlocksWanted = 16;   // per multiprocessor, before threads walk several positions

// The largest of 8, 4, 2, 1 up to `most` that divides a and b.
int width(int64_t most, int64_t a, int64_t b) {
  int v = 8;
  while (v > most || a % v != 0 || b % v != 0)
    v /= 2;
  return v;
}

int weights_of(const DirectConfig& c) {
  const bool groups = c.channels_last && (c.cpg > 1 || c.kpg > 1);
  return c.rows * c.S * c.k_tile * (groups ? c.vector : 1);
}
int products_of(const DirectConfig& c) {
  return weights_of(c) * c.p_tile * c.q_tile;
}

void shrink_rows(const ConvProblem& p, DirectConfig& c) {
  const int64_t P = out_extent(p, 1);
  while (c.p_tile > 1 && (c.p_tile > P || c.k_tile * c.p_tile * c.q_tile > kMostSums ||
                          products_of(c) > (c.channels_last ? 640 : kMostProducts))) {
    --c.p_tile;
  }
  while (c.q_tile > 1 && (shape_of(c).window_columns > kMostColumns)) {
    c.q_tile /= 2;
  }
  // Even tiles: 7 rows in tiles of 4 are better as 4 and 3 than tiles of 5.
  c.p_tile = static_cast<int>(ceil_div(P, ceil_div(P, c.p_tile)));
}

void unroll_filter(const ConvProblem& p, DirectConfig& c) {
  c.rows = c.R;
  const bool narrow = (c.R - 1) * p.dilation[1] <= 24;
  if (weights_of(c) > kMostWeights || !narrow) c.rows = 1;
}

// Channels first: threads lie along the columns, loads and stores are as wide as W and Q allow.
void tile_rows(const ConvProblem& p, DirectConfig& c) {
  const int64_t Q = out_extent(p, 2);
  const int widest = 16 / static_cast<int>(size_of(p.dtype));
  for (const int k : {1, 2, 3, 4}) {
    if (c.kpg % k == 0) c.k_tile = k;
  }
  const bool wasteful = round_up(Q, 8) * 4 > round_up(Q, 4) * 5;
  c.q_tile = (widest == 8 && c.k_tile < 3) || c.S > 8 ? 8 : 4;
  if (wasteful) c.q_tile = 4;
  c.p_tile = 4;
  unroll_filter(p, c);
  if (c.S > 16) c.p_tile = 2;
  shrink_rows(p, c);
  // After the tile has its width: every tile starts at a vector.
  c.vector = width(widest, p.in[2], c.q_tile * p.stride[2]);
}

int channel_lanes(const DirectConfig& c, int64_t channels) {
  const int64_t vectors = ceil_div(channels, c.k_tile);
  int lanes = 32;
  while (lanes > 4 && 5 * vectors < 4 * round_up(vectors, lanes))
    lanes /= 2;
  return lanes;
}

// Channels last: threads lie along the channels, each loads and stores k_tile of them.
void tile_channels(const ConvProblem& p, DirectConfig& c) {
  const bool elementwise = c.cpg == 1 && c.kpg == 1;
  const int taps = c.R * c.S;
  // Pairs of f32 leave room for taller tiles: 4 x 4 outputs of 2 channels load a quarter less than
  // 2 x 4 of 4, in 128 registers instead of 149.
  int most = size_of(p.dtype) == 4 && taps > 4 && taps <= 12 ? 2 : 4;
  if (elementwise && ((taps > 12 && taps <= 25) || c.S > 12)) most = c.S > 32 ? 1 : 2;
  c.k_tile = elementwise ? width(most, p.C, most) : width(4, c.kpg, 4);
  c.vector = elementwise ? c.k_tile : width(4, c.cpg, 4);
  while (!elementwise && c.S * c.k_tile * c.vector > 2 * kMostWeights && c.k_tile > 1)
    c.k_tile /= 2;
  unroll_filter(p, c);
  // With strides the rows hardly overlap: a taller tile only adds loads.
  c.p_tile = c.rows == 1 ? 1 : c.k_tile == 4 || c.row_stride > 1 ? 2 : 4;
  c.q_tile = c.rows == 1 ? 8 : 4;
  while (c.q_tile > 2 && c.q_tile / 2 >= out_extent(p, 2))
    c.q_tile /= 2;
  shrink_rows(p, c);
  c.lanes = channel_lanes(c, p.K);
  while (c.lanes > 1 && shared_bytes_of(c) > kDirectSharedBytes)
    c.lanes /= 2;
}

int64_t positions(const ConvProblem& p, const DirectConfig& c) {
  return p.N * out_extent(p, 0) * ceil_div(out_extent(p, 1), c.p_tile) *
         ceil_div(out_extent(p, 2), c.q_tile);
}

int64_t threads(const ConvProblem& p, const DirectConfig& c) {
  return positions(p, c) * ceil_div(p.K, c.k_tile);
}

int fill(const DirectConfig& c) {
  const DirectShape s = shape_of(c);
  const int window = c.channels_last ? 2 * c.vector : s.vectors * c.vector;
  // What ptxas asks for to hoist loads, each of them four bytes or eight of one thread.
  const bool f32 = c.elem == Elem::kF32 || c.elem == Elem::kTf32;
  const int wide = !f32 ? 0 : c.channels_last ? 36 : 8;
  const int registers = weights_of(c) + c.k_tile * c.p_tile * c.q_tile + window + 32 + wide;
  return registers > 160 ? 2 : registers > 115 ? 3 : 4;
}

}  // namespace

void describe(const ConvProblem& p, DirectConfig& c) {
  c.elem = elem_of(p.dtype);
  c.epilogue = epilogue_of(p);
  c.channels_last = p.layout == Layout::kNhwc;
  c.cpg = static_cast<int>(p.cpg());
  c.kpg = static_cast<int>(p.kpg());
  c.T = static_cast<int>(p.filter[0]);
  c.R = static_cast<int>(p.filter[1]);
  c.S = static_cast<int>(p.filter[2]);
  // One tap needs no dilation, one output no stride: fewer configurations.
  c.row_stride = out_extent(p, 1) == 1 ? 1 : static_cast<int>(p.stride[1]);
  c.row_dilation = c.R == 1 ? 1 : static_cast<int>(p.dilation[1]);
  c.column_stride = static_cast<int>(p.stride[2]);
  c.column_dilation = c.S == 1 ? 1 : static_cast<int>(p.dilation[2]);
  if (c.channels_last) return;
  const int64_t past = p.pad_lo[2] % c.vector;
  c.lead = past == 0 ? 0 : c.vector - static_cast<int>(past);
  c.store = width(16 / static_cast<int64_t>(size_of(p.dtype)), out_extent(p, 2), c.q_tile);
}

bool direct_serves(const ConvProblem& p) {
  const int64_t columns = (p.filter[2] - 1) * p.dilation[2] + 1;
  return p.filter[2] <= kMostTaps && columns <= kMostColumns && p.stride[2] <= 8 &&
         p.stride[1] <= 8;
}

DirectChoice direct_choice(const ConvProblem& p, const DeviceInfo& device) {
  DirectChoice choice;
  DirectConfig& c = choice.compiled;
  describe(p, c);
  const int64_t multiprocessors = std::max(1, device.multiprocessors);
  if (c.channels_last) {
    tile_channels(p, c);
  } else {
    tile_rows(p, c);
  }
  // Few threads: shorter tiles spread the rows over more of them.
  while (c.p_tile > 1 && threads(p, c) < multiprocessors * kDirectThreads * 2)
    c.p_tile = (c.p_tile + 1) / 2;
  describe(p, c);
  c.blocks = fill(c);
  if (c.channels_last) {
    const int64_t blocks =
        ceil_div(positions(p, c), shape_of(c).positions) * ceil_div(p.K, shape_of(c).channels);
    choice.walk =
        static_cast<int>(std::clamp<int64_t>(blocks / (multiprocessors * kBlocksWanted), 1, 8));
  }
  return choice;
}

DirectArgs direct_args(const ConvProblem& p, const DirectChoice& choice, const RunArgs& operands) {
  const DirectConfig& c = choice.compiled;
  DirectArgs args = {};
  static_cast<ConvArgs&>(args) = conv_args(p, operands);
  using D = Divider<i32>;
  args.q_tiles = D::by(ceil_div(out_extent(p, 2), c.q_tile));
  args.p_tiles = D::by(ceil_div(out_extent(p, 1), c.p_tile));
  args.depths = D::by(out_extent(p, 0));
  args.k_tiles = D::by(ceil_div(p.K, c.channels_last ? shape_of(c).channels : c.k_tile));
  args.total = static_cast<i32>(c.channels_last ? positions(p, c) : threads(p, c));
  args.walk = choice.walk;
  return args;
}

int64_t direct_blocks(const DirectArgs& args, const DirectConfig& c) {
  if (!c.channels_last) return ceil_div(int64_t{args.total}, int64_t{kDirectThreads});
  const int64_t at_once = int64_t{shape_of(c).positions} * args.walk;
  return ceil_div(int64_t{args.total}, at_once) * args.k_tiles.divisor();
}

std::string spell(const DirectConfig& c) {
  return str("DirectConfig{", spell(c.elem), ", ", spell(c.epilogue), ", ",
             c.channels_last ? "true" : "false", ", ", c.cpg, ", ", c.kpg, ", ", c.T, ", ", c.R,
             ", ", c.S, ", ", c.row_stride, ", ", c.row_dilation, ", ", c.column_stride, ", ",
             c.column_dilation, ", ", c.k_tile, ", ", c.p_tile, ", ", c.q_tile, ", ", c.rows, ", ",
             c.vector, ", ", c.store, ", ", c.lead, ", ", c.lanes, ", ", c.blocks, "}");
}

}  // namespace convoy
