// What is compiled into the implicit GEMM, and what its launch takes. Portable.
#pragma once

#include "kernel/gpu/device/conv_args.h"
#include "kernel/gpu/device/elem.h"
#include "tensor/igemm_descriptors.h"

namespace convoy {

// Rows of a tile are runs of gemm_k in shared memory, `row_bytes` each.
struct IgemmConfig {
  Elem elem = Elem::kF16;
  EpilogueKind epilogue = {};
  bool grouped = true;
  bool wide = false;  // 64-bit indices
  int T = 1, R = 1, S = 1;
  int cpg = 32, kpg = 32;
  int load_bytes = 16;   // of one copy of x and of w: divides cpg * sizeof(element)
  int store_bytes = 16;  // of one store of y: divides kpg * sizeof(element)
  int block_m = 128, block_n = 128;
  int warps_m = 2, warps_n = 2;
  int stages = 4;
  int row_bytes = 64;  // or 128
};

CONVOY_HD constexpr int igemm_threads(const IgemmConfig& c) {
  return 32 * c.warps_m * c.warps_n;
}
CONVOY_HD constexpr int igemm_element_bytes(const IgemmConfig& c) {
  return c.elem == Elem::kF16 || c.elem == Elem::kBf16 ? 2 : 4;
}
CONVOY_HD constexpr int igemm_block_k(const IgemmConfig& c) {
  return c.row_bytes / igemm_element_bytes(c);
}
// The epilogue's tile of f32: rows padded by 32 bytes, so that the eight rows that a warp writes at
// once meet no bank twice.
CONVOY_HD constexpr int igemm_output_pitch(const IgemmConfig& c) {
  return c.block_n * 4 + 32;
}
CONVOY_HD constexpr int igemm_shared_bytes(const IgemmConfig& c) {
  const int ring = c.stages * (c.block_m + c.block_n) * c.row_bytes;
  const int output = c.block_m * igemm_output_pitch(c);
  return ring > output ? ring : output;
}

// Byte offset of 16-byte chunk `chunk` of row `row` in a tile: the eight rows that one ldmatrix
// reads at the same chunk lie in eight different bank groups.
CONVOY_HD constexpr u32 igemm_swizzle(u32 row_bytes, u32 row, u32 chunk) {
  const u32 turn = row_bytes == 64 ? row >> 1 & 3 : row & 7;
  return row * row_bytes + ((chunk ^ turn) << 4);
}

template <class Index, bool kGrouped>
struct IgemmArgs : ConvArgs {
  InputDescriptor<Index, kGrouped> a;
  OutputDescriptor<Index, kGrouped> d;
  Divider<Index> n_tiles, groups;  // of the block index: n tiles fastest, then groups
  Index gemm_m;
};

}  // namespace convoy
