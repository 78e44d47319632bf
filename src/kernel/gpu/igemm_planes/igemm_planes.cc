// igemm_planes: groups of 8 channels and more, and dense, channels first, on matrix instructions.
#include "kernel/gpu/igemm_planes/igemm_planes.h"

#include <algorithm>

#include "base/int_math.h"
#include "base/str.h"
#include "kernel/gpu/bind.h"
#include "kernel/gpu/entry_source.h"
#include "kernel/gpu/gemm_tiles.h"

namespace convoy {
namespace {

constexpr const char* kName = "cuda_igemm_planes_fprop_sm80";
constexpr int64_t kMostBlocks = (int64_t{1} << 31) - 1;

// Share of the matrix ceiling that full waves of tiles reach: mma.sync runs at 0.65 of the rate
// that the ceiling is measured at, and loads and fragments take their part.
constexpr double kEfficiency = 0.4;
// What all tiles load, against a copy through DRAM: by vectors, by words, by elements that pass
// through registers. The last is counted, not measured: about 1.5 TB/s on an H200.
constexpr double kVectorRate = 1.1, kWordRate = 0.6, kElementRate = 0.36;

int64_t out_plane(const ConvProblem& p) {
  return out_extent(p, 0) * out_extent(p, 1) * out_extent(p, 2);
}

// Whether output (z,p,q) reads input (z,p,q) and nothing else.
bool reads_planes_whole(const ConvProblem& p) {
  for (int d = 0; d < 3; ++d) {
    const bool same = p.filter[d] == 1 && p.pad_lo[d] == 0 && out_extent(p, d) == p.in[d];
    if (!same || (p.stride[d] != 1 && p.in[d] > 1)) return false;
  }
  return true;
}

std::array<int, 6> values_of(const IgemmPlanesConfig& c) {
  return {c.block_m, c.block_n, c.warps_m, c.warps_n, c.stages, 0};
}

// The compiled-in facts of a problem, with the tile of `values`.
IgemmPlanesConfig with_values(const ConvProblem& p, const std::array<int, 6>& values) {
  const auto element_bytes = static_cast<int>(size_of(p.dtype));
  IgemmPlanesConfig c;
  c.elem = elem_of(p.dtype);
  c.epilogue = epilogue_of(p);
  c.grouped = p.G > 1;
  c.T = static_cast<int>(p.filter[0]);
  c.R = static_cast<int>(p.filter[1]);
  c.S = static_cast<int>(p.filter[2]);
  c.cpg = static_cast<int>(p.cpg());
  c.kpg = static_cast<int>(p.kpg());
  c.x_bytes = reads_planes_whole(p) ? run_bytes(out_plane(p), element_bytes) : element_bytes;
  c.w_bytes = run_bytes(gemm_k(p), element_bytes);
  c.y_bytes = run_bytes(out_plane(p), element_bytes);
  c.block_m = values[0];
  c.block_n = values[1];
  c.warps_m = values[2];
  c.warps_n = values[3];
  c.stages = values[4];
  return c;
}

TileBlock tile_of(const IgemmPlanesConfig& c) {
  return {c.block_m, c.block_n, igemm_planes_threads(c), igemm_planes_shared_bytes(c)};
}

}  // namespace

std::optional<Decline> igemm_planes_declines(const ConvProblem& p, const DeviceInfo& device) {
  if (compute_capability(device) < 80) return Decline{"needs compute capability 8.0"};
  if (p.layout != Layout::kNchw) return Decline{"takes channels-first tensors only"};
  if (p.dtype == DType::kF32) return Decline{"has no matrix instructions of true f32"};
  if (p.cpg() < 8) return Decline{"needs 8 or more input channels per group"};
  if (p.cpg() > 1 << 20 || p.kpg() > 1 << 20 || gemm_k(p) > 1 << 24) {
    return Decline{"needs channels per group below 2^20 and a window below 2^24"};
  }
  if (!fits_32_bits(p, device.index_limit)) return Decline{"needs tensors below 2^31 elements"};
  const IgemmPlanesConfig c = igemm_planes_config(p, device);
  if (igemm_planes_shared_bytes(c) > device.shared_bytes_per_block) {
    return Decline{"needs more shared memory than a block may have"};
  }
  if (igemm_planes_blocks(p, c) > kMostBlocks) {
    return Decline{"needs more blocks than a grid may have"};
  }
  return {};
}

// Tiles of 128 rows; of 64 where a machine would stay half empty.
IgemmPlanesConfig igemm_planes_config(const ConvProblem& p, const DeviceInfo& device) {
  const int columns = tile_columns(p.kpg(), 128);
  std::array<int, 6> values = {128, columns, 4, columns > 64 ? 2 : 1, 2, 0};
  const bool copied = size_of(p.dtype) == 4 || with_values(p, values).x_bytes > 2;
  if (copied) values[4] = 4;
  const IgemmPlanesConfig large = with_values(p, values);
  const int64_t busy = int64_t{device.multiprocessors} * resident_blocks(tile_of(large), device);
  if (igemm_planes_blocks(p, large) < busy) values[0] = 64;
  return with_values(p, values);
}

int64_t igemm_planes_blocks(const ConvProblem& p, const IgemmPlanesConfig& c) {
  return ceil_div(gemm_m_of(p), int64_t{c.block_m}) * ceil_div(p.kpg(), int64_t{c.block_n}) * p.G;
}

IgemmPlanesArgs igemm_planes_args(const ConvProblem& p, const IgemmPlanesConfig& config,
                                  const RunArgs& operands) {
  IgemmPlanesArgs args = {};
  static_cast<ConvArgs&>(args) = conv_args(p, operands);
  args.rows = RowMap<i32>::of(args.sizes);
  args.image = Divider<i32>::by(out_plane(p));
  args.n_tiles = Divider<i32>::by(ceil_div(p.kpg(), int64_t{config.block_n}));
  args.groups = Divider<i32>::by(p.G);
  args.gemm_m = static_cast<i32>(args.sizes.gemm_m());
  return args;
}

namespace {

std::string spell(const IgemmPlanesConfig& c) {
  return str("IgemmPlanesConfig{", convoy::spell(c.elem), ", ", convoy::spell(c.epilogue), ", ",
             c.grouped ? "true" : "false", ", ", c.T, ", ", c.R, ", ", c.S, ", ", c.cpg, ", ",
             c.kpg, ", ", c.x_bytes, ", ", c.w_bytes, ", ", c.y_bytes, ", ", c.block_m, ", ",
             c.block_n, ", ", c.warps_m, ", ", c.warps_n, ", ", c.stages, "}");
}

Config configure(const ConvProblem& p, const DeviceInfo& device) {
  const IgemmPlanesConfig c = igemm_planes_config(p, device);
  Config config;
  config.values = values_of(c);
  config.text = str(c.block_m, "x", c.block_n, "x", igemm_planes_block_k(c), "/s", c.stages, " ",
                    c.warps_m, "x", c.warps_n, " warps x", c.x_bytes, " w", c.w_bytes);
  const int64_t rows = round_up(gemm_m_of(p), int64_t{c.block_m});
  const int64_t columns = round_up(p.kpg(), int64_t{c.block_n}) * p.G;
  config.executed_flops =
      2 * rows * columns * round_up(gemm_k(p), int64_t{igemm_planes_block_k(c)});
  return config;
}

double estimate_us(const ConvProblem& p, const Config& config, const DeviceInfo& device) {
  const IgemmPlanesConfig c = with_values(p, config.values);
  const Ceilings& rates = device.ceilings;
  const double gflops = p.dtype == DType::kTf32 ? rates.matrix_tf32_gflops : rates.matrix_gflops;
  const int64_t blocks = igemm_planes_blocks(p, c);
  const double loss = wave_loss(blocks, resident_blocks(tile_of(c), device), device);
  const double matrix_us =
      static_cast<double>(config.executed_flops) / (gflops * 1e3 * kEfficiency) * loss;
  const double copy_us = static_cast<double>(bytes(p)) / (rates.copy_gbs(bytes(p)) * 1e3);
  const int64_t steps = ceil_div(gemm_k(p), int64_t{igemm_planes_block_k(c)});
  const double peak = rates.copy_gbs(int64_t{1} << 28) * 1e3;
  const double x_rate = c.x_bytes < 4 ? kElementRate : c.x_bytes == 4 ? kWordRate : kVectorRate;
  const auto stages = static_cast<double>(blocks * steps * kIgemmPlanesRowBytes);
  const double gather_us =
      stages * c.block_m / (peak * x_rate) + stages * c.block_n / (peak * kVectorRate);
  // One block runs its steps in turn, each a round trip to L2 that little else hides.
  const double chain_us = 1.5 + (c.x_bytes < 4 ? 0.6 : 0.3) * static_cast<double>(steps);
  return rates.fork_join_us + std::max({matrix_us, copy_us * 1.1, gather_us, chain_us});
}

Source source(const ConvProblem& p, const Config& config) {
  const IgemmPlanesConfig c = with_values(p, config.values);
  Source source = entry_source(kName, {.header = "kernel/gpu/igemm_planes/igemm_planes.cuh",
                                       .function = "igemm_planes",
                                       .config = spell(c),
                                       .args = "IgemmPlanesArgs",
                                       .args_bytes = sizeof(IgemmPlanesArgs),
                                       .threads = igemm_planes_threads(c),
                                       .blocks = igemm_planes_threads(c) > 128 ? 1 : 2});
  source.matrix = true;
  source.async_copies = c.x_bytes >= 4 || c.w_bytes >= 4;  // narrower ones pass through registers
  return source;
}

Result<Launchable> bind(const ConvProblem& p, const Config& config, const Device& device) {
  const IgemmPlanesConfig c = with_values(p, config.values);
  const auto arguments = [](const ConvProblem& problem, const Config& chosen,
                            const RunArgs& operands) {
    return igemm_planes_args(problem, with_values(problem, chosen.values), operands);
  };
  const LaunchShape shape = {.blocks = static_cast<uint32_t>(igemm_planes_blocks(p, c)),
                             .threads = static_cast<uint32_t>(igemm_planes_threads(c)),
                             .shared_bytes = static_cast<uint32_t>(igemm_planes_shared_bytes(c))};
  return bind_launch<IgemmPlanesArgs>(
      device, source(p, config), Views::kPacked16,
      {.problem = p, .config = config, .shape = shape, .arguments = arguments});
}

}  // namespace

extern const Kernel cuda_igemm_planes_fprop_sm80;
const Kernel cuda_igemm_planes_fprop_sm80 = {igemm_planes_declines, configure, estimate_us, bind,
                                             source};

}  // namespace convoy
