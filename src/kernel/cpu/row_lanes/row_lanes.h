// Arguments of the row-lanes kernel for its tier files: plain data.
#pragma once

#include "kernel/cpu/geometry.h"

namespace convoy {

// How the vectors of a tile lie. x and y have stride 1 along W.
enum class RowLanesMode {
  kBlock,    // k channels by v vectors along one output row
  kFlat,     // the same along a whole plane, rows end to end: stride 1, Q == W,
             // packed planes
  kRolling,  // one channel, 3x3 in 2D: row after row of the input
  kNarrow,   // whole planes of a few rows, 3x3 in 2D: two rows a vector
  kRows,     // one channel, rows by vectors: neighbouring rows share their loads
};

struct RowLanesArgs : Geometry {
  // Lane masks of a tile live on the stack, one for each filter column and
  // vector.
  static constexpr int64_t kMaxS = 64, kMaxFlatR = 32;

  RowLanesMode mode = RowLanesMode::kBlock;
  const float* w = nullptr;
  int64_t w_stride[5];  // (K,C/g,T,R,S)
  int64_t G = 1;
  bool depth_is_rows = false;  // axes 0 and 1 have changed places

  // An item is one block of channels of one chunk of columns of one strip of
  // rows. In kFlat a plane is one row of P*Q columns.
  int64_t rows = 1, columns = 1;
  int64_t pair = 1,
          pairs = 1;  // groups of an item in kRolling, and how many such items
  int64_t block = 1, blocks = 1, strip = 1, strips = 1, chunk = 1, chunks = 1;
  int64_t items = 0, items_per_task = 1;
};

void row_lanes_baseline(const RowLanesArgs& args, int64_t task);
void row_lanes_avx2(const RowLanesArgs& args, int64_t task);
void row_lanes_avx512(const RowLanesArgs& args, int64_t task);

}  // namespace convoy
