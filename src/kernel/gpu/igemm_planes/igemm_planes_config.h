// What is compiled into the implicit GEMM over channel planes, and what its launch takes. Portable.
#pragma once

#include "kernel/gpu/igemm/igemm_config.h"

namespace convoy {

// gemm_k counts (c,t,r,s), so that a row of w is a run of it. In shared memory x lies in rows of
// gemm_m, one for each of the `block_k` gemm_k of a step, and w in rows of gemm_k.
struct IgemmPlanesConfig {
  Elem elem = Elem::kF16;
  EpilogueKind epilogue = {};
  bool grouped = true;
  int T = 1, R = 1, S = 1;
  int cpg = 32, kpg = 32;
  int x_bytes = 2;   // of one load along gemm_m: more than an element where planes are read whole
  int w_bytes = 16;  // of one load along gemm_k: divides gemm_k * sizeof(element)
  int y_bytes = 2;   // of one store along gemm_m: divides an output plane
  int block_m = 128, block_n = 128;
  int warps_m = 2, warps_n = 2;
  int stages = 2;
};

inline constexpr int kIgemmPlanesRowBytes = 64;  // of gemm_k in a row of w, and of k rows of x

CONVOY_HD constexpr int igemm_planes_threads(const IgemmPlanesConfig& c) {
  return 32 * c.warps_m * c.warps_n;
}
CONVOY_HD constexpr int igemm_planes_element_bytes(const IgemmPlanesConfig& c) {
  return c.elem == Elem::kF16 || c.elem == Elem::kBf16 ? 2 : 4;
}
CONVOY_HD constexpr int igemm_planes_block_k(const IgemmPlanesConfig& c) {
  return kIgemmPlanesRowBytes / igemm_planes_element_bytes(c);
}
// The epilogue's tile of f32, rows of gemm_m: padded by 16 bytes, so that the four rows that a warp
// writes at once meet no bank twice.
CONVOY_HD constexpr int igemm_planes_output_pitch(const IgemmPlanesConfig& c) {
  return c.block_m * 4 + 16;
}
CONVOY_HD constexpr int igemm_planes_shared_bytes(const IgemmPlanesConfig& c) {
  const int ring = c.stages * (c.block_m + c.block_n) * kIgemmPlanesRowBytes;
  const int output = c.block_n * igemm_planes_output_pitch(c);
  return ring > output ? ring : output;
}

// Byte offset of element m of row k of x. The eight rows of one ldmatrix lie in eight bank groups;
// so do the four rows and eight columns that a warp of tf32 reads at once.
CONVOY_HD constexpr u32 igemm_planes_swizzle(const IgemmPlanesConfig& c, u32 k, u32 m) {
  const u32 element_bytes = static_cast<u32>(igemm_planes_element_bytes(c));
  const u32 byte = m * element_bytes;
  const u32 turn = element_bytes == 2 ? k & 7 : (k & 3) << 1;
  return k * static_cast<u32>(c.block_m) * element_bytes + (byte ^ turn << 4);
}

struct IgemmPlanesArgs : ConvArgs {
  RowMap<i32> rows;
  Divider<i32> image;            // of gemm_m: Z * P * Q
  Divider<i32> n_tiles, groups;  // of the block index: n tiles fastest, then groups
  i32 gemm_m;
};

}  // namespace convoy
