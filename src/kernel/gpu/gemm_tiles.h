// What the implicit-GEMM families choose alike: vector widths, tile columns, waves of blocks.
#pragma once

#include <convoy/device.h>
#include <convoy/problem.h>

namespace convoy {

// Bytes of the widest vector, up to 16, that divides a run of `elements`.
int run_bytes(int64_t elements, int element_bytes);

// Rows of the GEMM: every output position of every sample.
int64_t gemm_m_of(const ConvProblem& p);

// Columns of a tile: all of kpg where they fit in `most`, else equal parts; in steps of what the
// warps divide.
int tile_columns(int64_t kpg, int64_t most);

// Whether i32 serves every index of the problem's gapless tensors, below `index_limit`.
bool fits_32_bits(const ConvProblem& p, int64_t index_limit);

struct TileBlock {
  int block_m, block_n, threads, shared_bytes;
};
// Blocks that share a multiprocessor: what registers and shared memory leave.
int resident_blocks(const TileBlock& tile, const DeviceInfo& device);
// Equal shares of whole waves, in units of a full machine.
double wave_loss(int64_t blocks, int resident, const DeviceInfo& device);

}  // namespace convoy
