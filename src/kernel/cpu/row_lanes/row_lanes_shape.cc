// How a problem lies on the lanes: merged axes, the mode, the items.
#include "kernel/cpu/row_lanes/row_lanes_shape.h"

#include <algorithm>
#include <utility>

#include "base/int_math.h"
#include "base/str.h"

namespace convoy {
namespace {

// Axis d has no filter, stride or padding: its outputs are its inputs.
bool is_plain(const RowLanesArgs& a, int d) {
  return a.filter[d] == 1 && a.stride[d] == 1 && a.pad[d] == 0 && a.in[d] == a.out[d];
}

// Makes axis 2 the product of d and 2 where both are plain and packed; W has
// stride 1.
void merge_into_row(RowLanesArgs& a, int d) {
  if (a.in[d] == 1 || !is_plain(a, d) || !is_plain(a, 2)) return;
  if (a.x_stride[2 + d] != a.in[2] || a.y_stride[2 + d] != a.out[2]) return;
  a.in[2] *= a.in[d];
  a.out[2] *= a.out[d];
  a.in[d] = a.out[d] = 1;
}

// A depth filter without a row filter runs as a row filter, whose tiles are the
// better ones.
void turn_depth_into_rows(RowLanesArgs& a) {
  if (a.in[1] != 1 || !is_plain(a, 1)) return;
  if (a.in[0] == 1 && is_plain(a, 0)) return;
  for (auto* extents : {a.in, a.out, a.filter, a.stride, a.pad, a.dilation})
    std::swap(extents[0], extents[1]);
  for (auto* strides : {a.x_stride, a.w_stride, a.y_stride})
    std::swap(strides[2], strides[3]);
  a.depth_is_rows = true;
}

bool can_be_flat(const RowLanesArgs& a) {
  return a.stride[1] == 1 && a.stride[2] == 1 && a.in[2] == a.out[2] && a.out[1] > 1 &&
         a.x_stride[3] == a.in[2] && a.y_stride[3] == a.out[2] &&
         a.filter[1] <= RowLanesArgs::kMaxFlatR;
}

// Rows end to end pay where rows of whole vectors would leave many lanes empty.
bool is_narrow(const RowLanesArgs& a, int lanes) {
  return a.out[2] < lanes;
}

// Planes of two rows a vector, four vectors; at stride 2 of 7x7 outputs only.
bool is_narrow_plane(const RowLanesArgs& a, int lanes) {
  const auto fits = [&](int d) {
    const int64_t out = a.out[d], odd = a.in[d] % 2;
    if (a.stride[d] == 2) return a.pad[d] == 1 && out == 7 && a.in[d] == 14 - odd;
    return a.pad[d] == 1 && a.in[d] == out && (out == 7 || out == 8);
  };
  return lanes == 16 && a.out[0] == 1 && a.pad[0] == 0 && fits(1) && fits(2) &&
         a.x_stride[3] == a.in[2] && a.y_stride[3] == a.out[2];
}

RowLanesMode mode_of(const RowLanesArgs& a, int lanes) {
  const bool shares_rows = a.kpg == 1 && a.filter[1] > 1 && a.dilation[1] == 1 &&
                           a.stride[1] <= 2 && a.stride[2] <= 2 && a.out[1] > 1;
  if (shares_rows) {
    const bool three = a.filter[0] == 1 && a.filter[1] == 3 && a.filter[2] == 3 && a.cpg == 1 &&
                       a.dilation[2] == 1 && a.stride[1] == a.stride[2];
    if (three && is_narrow_plane(a, lanes)) return RowLanesMode::kNarrow;
    return three ? RowLanesMode::kRolling : RowLanesMode::kRows;
  }
  return can_be_flat(a) && is_narrow(a, lanes) ? RowLanesMode::kFlat : RowLanesMode::kBlock;
}

struct TileShape {
  int64_t channels, rows, vectors;
};

TileShape tile_shape(const RowLanesArgs& a, int lanes) {
  const int64_t vectors = ceil_div(a.columns, lanes);
  if (a.mode == RowLanesMode::kRolling) {
    const int64_t tiles = ceil_div(vectors, int64_t{lanes == 16 ? 4 : 2});
    return {1, 3, ceil_div(vectors, tiles)};
  }
  if (a.mode == RowLanesMode::kNarrow) return {1, 3, 1};
  if (a.mode == RowLanesMode::kRows) {
    return {1, vectors == 1 ? 7 : 4, std::min<int64_t>(vectors, 2)};
  }
  int64_t channels = lanes == 16 ? 8 : 4;
  while (channels > a.kpg)
    channels /= 2;
  int64_t most = 4;
  if (lanes == 16 && channels == 8) most = 3;
  if (lanes < 16 && channels > 1) most = channels == 4 ? 2 : 3;
  if (a.stride[2] > 2) most = 2;
  const int64_t tiles = ceil_div(vectors, most);
  return {channels, 1, ceil_div(vectors, tiles)};
}

// Strips and chunks, so that the input which the blocks of channels share stays
// in the L2 cache.
void cut_items(RowLanesArgs& a, int lanes) {
  constexpr int64_t kColumns = 192;  // whole tiles of 1, 2, 3 and 4 vectors of 4 to 16 lanes
  constexpr int64_t kSharedFloats = 64 << 10;
  a.block = lanes == 16 ? 8 : 4;
  a.blocks = ceil_div(a.kpg, a.block);
  const int64_t row_floats = std::max<int64_t>(a.cpg * std::min(a.in[2], kColumns), 1);
  const bool narrow = a.mode == RowLanesMode::kNarrow;
  const bool one_channel =
      a.mode == RowLanesMode::kRows || a.mode == RowLanesMode::kRolling || narrow;
  const int64_t most_rows = one_channel ? 28 : 8;
  a.strip = std::clamp<int64_t>(kSharedFloats / row_floats, 1, most_rows);
  if (one_channel) a.strip = most_rows;  // whole tiles of 4 and 7 rows
  a.strip = std::min(a.strip, a.rows);
  a.strips = ceil_div(a.rows, a.strip);
  const int64_t column_floats = a.cpg * a.strip;
  a.chunk = std::clamp<int64_t>(kSharedFloats / column_floats / kColumns, 1, 20) * kColumns;
  a.chunks = ceil_div(a.columns, a.chunk);
  // A pair of narrow planes takes 18 registers of weights; one alone took 33 us on 576x14x14
  // against 27 (as in row_lanes_rolling.h).
  a.pair = a.mode == RowLanesMode::kRolling && lanes == 16 && a.columns <= lanes ? 2 : 1;
  if (narrow) a.pair = 16;
  a.pairs = ceil_div(a.G, a.pair);
  a.items = a.N * a.pairs * a.out[0] * a.strips * a.chunks * a.blocks;
}

}  // namespace

void shape_row_lanes(RowLanesArgs& a, int lanes) {
  merge_into_row(a, 1);
  if (a.in[1] == 1) merge_into_row(a, 0);
  turn_depth_into_rows(a);
  a.mode = mode_of(a, lanes);
  const bool flat = a.mode == RowLanesMode::kFlat;
  a.rows = flat ? 1 : a.out[1];
  a.columns = flat ? a.out[1] * a.out[2] : a.out[2];
  cut_items(a, lanes);
}

std::string row_lanes_tile_text(const RowLanesArgs& a, int lanes) {
  const TileShape t = tile_shape(a, lanes);
  if (a.mode == RowLanesMode::kRows) return str(t.rows, "p x ", t.vectors, "v/rows");
  if (a.mode == RowLanesMode::kNarrow) return "2p x 4v/narrow";
  if (a.mode == RowLanesMode::kRolling) return str(t.vectors, "v/rolling");
  return str(t.channels, "k x ", t.vectors, a.mode == RowLanesMode::kFlat ? "v/flat" : "v");
}

double row_lanes_loads_per_fma(const RowLanesArgs& a, int lanes) {
  const TileShape t = tile_shape(a, lanes);
  // Most vector loads straddle two cache lines; a gather loads lane by lane.
  const double x_loads = a.stride[2] > 2 ? lanes * 2.0 : static_cast<double>(a.stride[2]) * 1.8;
  const double shared = static_cast<double>(
      a.mode == RowLanesMode::kRows ? std::min(t.rows, a.filter[1]) : t.channels);
  const double masks = a.mode == RowLanesMode::kFlat ? 1 : 0;
  const double vectors = static_cast<double>(t.vectors);
  const double loads = vectors * (x_loads + masks) + shared;
  return std::max(1.0, loads / (shared * vectors));
}

}  // namespace convoy
