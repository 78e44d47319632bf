// Counts tiles and what of a machine they fill.
#include "kernel/gpu/gemm_tiles.h"

#include <algorithm>

#include "base/int_math.h"
#include "kernel/gpu/entry_source.h"
#include "tensor/igemm_limits.h"

namespace convoy {

int run_bytes(int64_t elements, int element_bytes) {
  int bytes = 16;
  while (bytes > element_bytes && elements * element_bytes % bytes != 0)
    bytes /= 2;
  return bytes;
}

int64_t gemm_m_of(const ConvProblem& p) {
  return p.N * out_extent(p, 0) * out_extent(p, 1) * out_extent(p, 2);
}

int tile_columns(int64_t kpg, int64_t most) {
  const int64_t parts = ceil_div(kpg, most);
  const int64_t columns = round_up(ceil_div(kpg, parts), int64_t{8});
  return static_cast<int>(columns > 64 ? round_up(columns, int64_t{16}) : columns);
}

bool fits_32_bits(const ConvProblem& p, int64_t index_limit) {
  RunArgs packed_views;
  packed_views.x = packed(nullptr, p.dtype, x_shape(p).span(), p.layout);
  packed_views.w = packed(nullptr, p.dtype, w_shape(p).span(), p.layout);
  packed_views.y = packed(nullptr, p.dtype, y_shape(p).span(), p.layout);
  return fits_i32(conv_args(p, packed_views).sizes, 256, index_limit);
}

int resident_blocks(const TileBlock& tile, const DeviceInfo& device) {
  const int registers = tile.block_m * tile.block_n / tile.threads + 96;
  const int by_registers = 65536 / (tile.threads * std::min(255, registers));
  const auto by_shared =
      static_cast<int>(device.shared_bytes_per_multiprocessor / (tile.shared_bytes + 1024));
  return std::max(1, std::min({by_registers, by_shared, 8}));
}

double wave_loss(int64_t blocks, int resident, const DeviceInfo& device) {
  const int64_t at_once = int64_t{device.multiprocessors} * resident;
  return static_cast<double>(ceil_div(blocks, at_once) * at_once) / static_cast<double>(blocks);
}

}  // namespace convoy
