// igemm: groups of 8 channels and more, and dense, channels last: on matrix instructions, f32 by
// FFMA.
#include "kernel/gpu/igemm/igemm.h"

#include <algorithm>

#include "base/int_math.h"
#include "base/str.h"
#include "kernel/gpu/bind.h"
#include "kernel/gpu/entry_source.h"
#include "kernel/gpu/gemm_tiles.h"

namespace convoy {
namespace {

constexpr const char* kName = "cuda_igemm_fprop_sm80";
constexpr int64_t kMostBlocks = (int64_t{1} << 31) - 1;

// Share of the matrix ceiling that full waves of tiles reach: mma.sync runs at 0.65 of the rate
// that the ceiling is measured at, and copies and fragments take their part.
constexpr double kEfficiency = 0.5;
// What all tiles copy into shared memory, against a copy through DRAM: it comes from L2.
constexpr double kGatherRate = 1.1;

// Most columns of a tile: the threads of f32 hold more sums each.
int64_t most_columns(DType dtype) {
  return dtype == DType::kF32 ? 64 : 128;
}

// Configurations are numbered so that a Config carries them: the tile and the index type.
std::array<int, 6> values_of(const IgemmConfig& c) {
  return {c.block_m, c.block_n, c.warps_m, c.warps_n, c.stages, c.row_bytes + (c.wide ? 1 : 0)};
}

// The compiled-in facts of a problem, with the tile of `values`.
IgemmConfig with_values(const ConvProblem& p, const std::array<int, 6>& values) {
  IgemmConfig c;
  c.elem = elem_of(p.dtype);
  c.epilogue = epilogue_of(p);
  c.grouped = p.G > 1;
  c.T = static_cast<int>(p.filter[0]);
  c.R = static_cast<int>(p.filter[1]);
  c.S = static_cast<int>(p.filter[2]);
  c.cpg = static_cast<int>(p.cpg());
  c.kpg = static_cast<int>(p.kpg());
  c.load_bytes = run_bytes(p.cpg(), size_of(p.dtype));
  c.store_bytes = run_bytes(p.kpg(), size_of(p.dtype));
  c.block_m = values[0];
  c.block_n = values[1];
  c.warps_m = values[2];
  c.warps_n = values[3];
  c.stages = values[4];
  c.wide = values[5] % 2 != 0;
  c.row_bytes = values[5] / 2 * 2;
  return c;
}

TileBlock tile_of(const IgemmConfig& c) {
  return {c.block_m, c.block_n, igemm_threads(c), igemm_shared_bytes(c)};
}

}  // namespace

std::optional<Decline> igemm_declines(const ConvProblem& p, const DeviceInfo& device) {
  if (compute_capability(device) < 80) return Decline{"needs compute capability 8.0"};
  if (p.layout != Layout::kNhwc) return Decline{"takes channels-last tensors only"};
  if (p.cpg() < 8) return Decline{"needs 8 or more input channels per group"};
  if (p.cpg() * size_of(p.dtype) % 4 != 0) return Decline{"needs an even number of channels"};
  if (p.cpg() > 1 << 20 || p.kpg() > 1 << 20 || gemm_k(p) > 1 << 24) {
    return Decline{"needs channels per group below 2^20 and a window below 2^24"};
  }
  for (int d = 0; d < 3; ++d) {
    // Rows past gemm_m stand 2^30 before the input, where no tap may reach it.
    if (p.dilation[d] * (p.filter[d] - 1) >= int64_t{1} << 30) {
      return Decline{"needs filters that reach less than 2^30 positions"};
    }
  }
  const IgemmConfig c = igemm_config(p, device);
  if (igemm_shared_bytes(c) > device.shared_bytes_per_block) {
    return Decline{"needs more shared memory than a block may have"};
  }
  if (igemm_blocks(p, c) > kMostBlocks) return Decline{"needs more blocks than a grid may have"};
  return {};
}

// Tiles of 128 rows; of 64 where a machine would stay half empty. Long sums take steps of 128
// bytes, which halve the barriers; f32 does not: its unrolled step would double.
IgemmConfig igemm_config(const ConvProblem& p, const DeviceInfo& device) {
  const int columns = tile_columns(p.kpg(), most_columns(p.dtype));
  const bool long_sum = p.dtype != DType::kF32 && gemm_k(p) * size_of(p.dtype) >= 1024 &&
                        run_bytes(p.cpg(), size_of(p.dtype)) >= 8;
  const int row_bytes = long_sum ? 128 : 64, stages = long_sum ? 3 : 4;
  std::array<int, 6> values = {128, columns, 4, columns > 64 ? 2 : 1, stages, row_bytes};
  if (columns == 128) values = {128, 128, 2, 2, stages, row_bytes};
  values[5] += fits_32_bits(p, device.index_limit) ? 0 : 1;
  const IgemmConfig large = with_values(p, values);
  const int64_t busy = int64_t{device.multiprocessors} * resident_blocks(tile_of(large), device);
  if (igemm_blocks(p, large) < busy) {
    values[0] = 64;
    values[2] = columns == 128 ? 2 : 4;
  }
  return with_values(p, values);
}

int64_t igemm_blocks(const ConvProblem& p, const IgemmConfig& c) {
  return ceil_div(gemm_m_of(p), int64_t{c.block_m}) * ceil_div(p.kpg(), int64_t{c.block_n}) * p.G;
}

template <class Index, bool kGrouped>
IgemmArgs<Index, kGrouped> igemm_args(const ConvProblem& p, const IgemmConfig& config,
                                      const RunArgs& operands) {
  IgemmArgs<Index, kGrouped> args = {};
  static_cast<ConvArgs&>(args) = conv_args(p, operands);
  args.a = InputDescriptor<Index, kGrouped>::of(args.sizes);
  args.d = OutputDescriptor<Index, kGrouped>::of(args.sizes);
  args.n_tiles = Divider<Index>::by(ceil_div(p.kpg(), int64_t{config.block_n}));
  args.groups = Divider<Index>::by(p.G);
  args.gemm_m = static_cast<Index>(args.sizes.gemm_m());
  return args;
}
template IgemmArgs<i32, false> igemm_args(const ConvProblem&, const IgemmConfig&, const RunArgs&);
template IgemmArgs<i32, true> igemm_args(const ConvProblem&, const IgemmConfig&, const RunArgs&);
template IgemmArgs<i64, false> igemm_args(const ConvProblem&, const IgemmConfig&, const RunArgs&);
template IgemmArgs<i64, true> igemm_args(const ConvProblem&, const IgemmConfig&, const RunArgs&);

namespace {

std::string spell(const IgemmConfig& c) {
  const auto word = [](bool value) { return value ? "true" : "false"; };
  return str("IgemmConfig{", convoy::spell(c.elem), ", ", convoy::spell(c.epilogue), ", ",
             word(c.grouped), ", ", word(c.wide), ", ", c.T, ", ", c.R, ", ", c.S, ", ", c.cpg,
             ", ", c.kpg, ", ", c.load_bytes, ", ", c.store_bytes, ", ", c.block_m, ", ", c.block_n,
             ", ", c.warps_m, ", ", c.warps_n, ", ", c.stages, ", ", c.row_bytes, "}");
}

Config configure(const ConvProblem& p, const DeviceInfo& device) {
  const IgemmConfig c = igemm_config(p, device);
  Config config;
  config.values = values_of(c);
  config.text = str(c.block_m, "x", c.block_n, "x", igemm_block_k(c), "/s", c.stages, " ",
                    c.warps_m, "x", c.warps_n, " warps", c.wide ? " 64-bit" : "");
  const int64_t rows = round_up(gemm_m_of(p), int64_t{c.block_m});
  const int64_t columns = round_up(p.kpg(), int64_t{c.block_n}) * p.G;
  config.executed_flops = 2 * rows * columns * round_up(gemm_k(p), int64_t{igemm_block_k(c)});
  return config;
}

double estimate_us(const ConvProblem& p, const Config& config, const DeviceInfo& device) {
  const IgemmConfig c = with_values(p, config.values);
  const Ceilings& rates = device.ceilings;
  const double gflops = p.dtype == DType::kTf32 ? rates.matrix_tf32_gflops : rates.matrix_gflops;
  const double matrix_us =
      static_cast<double>(config.executed_flops) / (gflops * 1e3 * kEfficiency) *
      wave_loss(igemm_blocks(p, c), resident_blocks(tile_of(c), device), device);
  const double copy_us = static_cast<double>(bytes(p)) / (rates.copy_gbs(bytes(p)) * 1e3);
  const int64_t steps = ceil_div(gemm_k(p), int64_t{igemm_block_k(c)});
  const int64_t gathered = igemm_blocks(p, c) * steps * (c.block_m + c.block_n) * c.row_bytes;
  const double gather_us =
      static_cast<double>(gathered) / (rates.copy_gbs(int64_t{1} << 28) * 1e3 * kGatherRate);
  // One block runs its steps in turn, each a round trip to L2 shared by the stages in flight.
  const double chain_us = 2.2 + 0.25 * static_cast<double>(steps);
  return rates.fork_join_us + std::max({matrix_us, copy_us * 1.1, gather_us, chain_us});
}

template <class Index, bool kGrouped>
Source source_of(const IgemmConfig& c) {
  Source source = entry_source(kName, {.header = "kernel/gpu/igemm/igemm.cuh",
                                       .function = "igemm",
                                       .config = spell(c),
                                       .args = str("IgemmArgs<", c.wide ? "i64" : "i32", ", ",
                                                   kGrouped ? "true" : "false", ">"),
                                       .args_bytes = sizeof(IgemmArgs<Index, kGrouped>),
                                       .threads = igemm_threads(c),
                                       .blocks = 2});
  source.matrix = c.elem != Elem::kF32;
  source.async_copies = true;
  return source;
}

// Calls f<Index, kGrouped>() as the configuration says.
template <class F>
auto with_types(const IgemmConfig& c, F&& f) {
  if (c.wide && c.grouped) return f.template operator()<i64, true>();
  if (c.wide) return f.template operator()<i64, false>();
  if (c.grouped) return f.template operator()<i32, true>();
  return f.template operator()<i32, false>();
}

Source source(const ConvProblem& p, const Config& config) {
  const IgemmConfig c = with_values(p, config.values);
  return with_types(c, [&]<class Index, bool kGrouped>() { return source_of<Index, kGrouped>(c); });
}

Result<Launchable> bind(const ConvProblem& p, const Config& config, const Device& device) {
  const IgemmConfig c = with_values(p, config.values);
  return with_types(c, [&]<class Index, bool kGrouped>() {
    using Args = IgemmArgs<Index, kGrouped>;
    const auto arguments = [](const ConvProblem& problem, const Config& chosen,
                              const RunArgs& operands) {
      return igemm_args<Index, kGrouped>(problem, with_values(problem, chosen.values), operands);
    };
    const LaunchShape shape = {.blocks = static_cast<uint32_t>(igemm_blocks(p, c)),
                               .threads = static_cast<uint32_t>(igemm_threads(c)),
                               .shared_bytes = static_cast<uint32_t>(igemm_shared_bytes(c))};
    return bind_launch<Args>(
        device, source(p, config), Views::kPacked16,
        {.problem = p, .config = config, .shape = shape, .arguments = arguments});
  });
}

}  // namespace

extern const Kernel cuda_igemm_fprop_sm80;
const Kernel cuda_igemm_fprop_sm80 = {igemm_declines, configure, estimate_us, bind, source};

}  // namespace convoy
