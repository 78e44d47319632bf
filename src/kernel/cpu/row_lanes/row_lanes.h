// Arguments of the row-lanes kernel for its tier files: plain data.
#pragma once

#include "kernel/cpu/epilogue_args.h"

namespace convoy {

// How the vectors of a tile lie. x and y have stride 1 along W.
enum class RowLanesMode {
  kBlock,    // k channels by v vectors along one output row
  kFlat,     // the same along a whole plane, rows end to end: stride 1, Q == W,
             // packed planes
  kRolling,  // one channel, 3x3 in 2D: row after row of the input
  kRows,     // one channel, rows by vectors: neighbouring rows share their loads
};

struct RowLanesArgs {
  // Lane masks of a tile live on the stack, one for each filter column and
  // vector.
  static constexpr int64_t kMaxS = 64, kMaxFlatR = 32;

  RowLanesMode mode = RowLanesMode::kBlock;
  DType dtype = DType::kF32;
  const void* x = nullptr;
  const float* w = nullptr;
  void* y = nullptr;
  Epilogue epilogue;
  int64_t N = 1, G = 1, cpg = 1, kpg = 1;
  int64_t in[3], out[3], filter[3], stride[3], pad[3], dilation[3];
  int64_t x_stride[5], w_stride[5],
      y_stride[5];             // (N,C,D,H,W) (K,C/g,T,R,S) (N,K,Z,P,Q)
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
