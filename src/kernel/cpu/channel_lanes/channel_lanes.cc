// channel_lanes: accepts small groups in nhwc, packs their weights, splits rows and channels.
#include "kernel/cpu/channel_lanes/channel_lanes.h"

#include <algorithm>

#include "base/int_math.h"
#include "base/str.h"
#include "kernel/cpu/cost.h"
#include "kernel/cpu/tasks.h"
#include "kernel/cpu/tier.h"
#include "kernel/kernel.h"
#include "kernel/operand.h"
#include "kernel/reference/sums.h"
#include "launch/cpu/parallel.h"

namespace convoy {
namespace {

constexpr int64_t kMaxCpg = 8;
struct State {
  ConvProblem problem;
  ChannelLanesArgs args;  // without operands
  int lanes;
  int threads;
  void (*tile)(const ChannelLanesArgs&, int64_t);
};

LanePattern lane_pattern(const ConvProblem& p, int lanes) {
  LanePattern pattern = {.lanes = lanes};
  const int64_t fit = std::min(lanes / p.cpg(), std::max<int64_t>(1, lanes / p.kpg()));
  pattern.groups_per_block = static_cast<int>(std::min(fit, p.G));
  if (p.kpg() > lanes) pattern.groups_per_block = 1;
  pattern.blocks_per_group = p.kpg() > lanes ? ceil_div(p.kpg(), lanes) : 1;
  pattern.used = p.kpg() > lanes ? lanes : static_cast<int>(pattern.groups_per_block * p.kpg());
  pattern.blocks = pattern.blocks_per_group * ceil_div(p.G, pattern.groups_per_block);
  pattern.identity = p.cpg() == 1 && p.kpg() == 1;
  for (int j = 0; j < p.cpg(); ++j) {
    for (int lane = 0; lane < lanes; ++lane) {
      const int64_t group = std::min<int64_t>(lane / p.kpg(), pattern.groups_per_block - 1);
      pattern.spread[j][lane] = static_cast<int32_t>(group * p.cpg() + j);
    }
  }
  return pattern;
}

std::optional<Decline> declines(const ConvProblem& p, const DeviceInfo& device) {
  const int64_t most = std::min<int64_t>(kMaxCpg, tier_lanes(device.isa));
  if (p.cpg() > most) return Decline{str("cpg=", p.cpg(), " exceeds ", most)};
  if (p.filter[2] > kMaxFilterColumns) {
    return Decline{str("filter s=", p.filter[2], " exceeds ", kMaxFilterColumns)};
  }
  return {};
}

// Blocks of channels per task: as many as keep the window of input rows, which several output rows
// read, in half of a 2 MiB L2, because pixels then stream in their own order. A window in L1 lost
// where the input comes from L3 (96 channels, 112x112, stride 2: 572 us against 255).
int64_t chunk_blocks(const ConvProblem& p, const LanePattern& pattern) {
  const int64_t rows = std::min(p.filter[0] * p.filter[1], int64_t{1} << 20);
  const int64_t most = std::min(pattern.blocks, kMaxChunk);
  if (rows == 1) return most;
  const int64_t row_bytes = std::min(p.in[2], int64_t{1} << 20) * pattern.lanes * size_of(p.dtype);
  return std::clamp<int64_t>((1 << 20) / (rows * row_bytes), 1, most);
}

Config configure(const ConvProblem& p, const DeviceInfo& device) {
  const LanePattern pattern = lane_pattern(p, tier_lanes(device.isa));
  const int64_t columns = out_extent(p, 2) % 7 == 0 ? 7 : 8;
  Config config;
  config.text =
      str(tier_name(device.isa), "/", columns, "q x ", pattern.used, "k of ", pattern.lanes);
  const int64_t lanes = pattern.blocks * pattern.lanes;
  config.executed_flops = static_cast<int64_t>(
      static_cast<double>(flops(p)) / static_cast<double>(p.K) * static_cast<double>(lanes));
  return config;
}

// Multiply-adds at 80 % of the peak, at 45 % where every input is spread by a permute first.
double compute_us(const ConvProblem& p, const Config& config, const DeviceInfo& device) {
  const bool identity = p.cpg() == 1 && p.kpg() == 1;
  const double efficiency = identity ? 0.8 : 0.45;
  return static_cast<double>(config.executed_flops) / (thread_gflops(device) * efficiency * 1e3);
}

double estimate_us(const ConvProblem& p, const Config& config, const DeviceInfo& device) {
  const double alone = compute_us(p, config, device);
  return spread_us(alone, worthwhile_threads(alone, device.threads), bytes(p), device);
}

int64_t block_first_k(const ConvProblem& p, const LanePattern& pattern, int64_t b) {
  const int64_t group = b / pattern.blocks_per_group * pattern.groups_per_block;
  return group * p.kpg() + b % pattern.blocks_per_group * pattern.used;
}

template <class T>
void pack_as(const ConvProblem& p, const LanePattern& pattern, const Operand<const T>& w,
             float* to) {
  for (int64_t b = 0; b < pattern.blocks; ++b) {
    const int64_t k0 = block_first_k(p, pattern, b);
    for_each_tap(p, [&](int64_t t, int64_t r, int64_t s) {
      for (int64_t j = 0; j < p.cpg(); ++j) {
        for (int lane = 0; lane < pattern.lanes; ++lane) {
          const bool used = lane < pattern.used && k0 + lane < p.K;
          *to++ = used ? static_cast<float>(to_f64(w.at(k0 + lane, j, t, r, s))) : 0.0F;
        }
      }
    });
  }
}

void pack(const void* opaque, const TensorView& w, void* packed) {
  const State& state = *static_cast<const State*>(opaque);
  with_type(state.problem.dtype, [&](auto* type) {
    using T = std::remove_pointer_t<decltype(type)>;
    pack_as<T>(state.problem, state.args.pattern, operand<const T>(w), static_cast<float*>(packed));
  });
}

Status run(const void* opaque, const RunArgs& operands, const void* packed, Stream) {
  const State& state = *static_cast<const State*>(opaque);
  ChannelLanesArgs args = state.args;
  args.g = geometry(state.problem, operands);
  args.weights = static_cast<const float*>(packed);
  const int64_t tasks = args.g.N * args.g.out[0] * ceil_div(args.g.out[1], args.band) *
                        ceil_div(args.g.out[2], args.segment) *
                        ceil_div(args.pattern.blocks, args.chunk);
  parallel_for(tasks, state.threads, [&](int64_t task) { state.tile(args, task); });
  return {};
}

// Chunks and bands of a task. Operands that lie in the L2 caches are cut by channels first, since
// a band reads filter-1 rows that its neighbour reads too; larger ones stream in bands of all
// channels, the next band asked for during this one. Bands of 2 and 4 rows took 21 us on
// 384x14x14 and 38 us on 192x28x28 with two threads.
void cut_tasks(const ConvProblem& p, const DeviceInfo& info, State& state) {
  constexpr int64_t kTasksPerThread = 4;
  // At stride 2 bands of 14 rows outgrew L2: 96x112x112 took 516 us against 342 row by row.
  const int64_t least_band = p.stride[1] == 1 ? 14 : 4;
  ChannelLanesArgs& a = state.args;
  const int64_t planes = std::max<int64_t>(p.N * out_extent(p, 0), 1), P = out_extent(p, 1);
  const bool in_l2 = bytes(p) <= info.l2_bytes * state.threads / 4 * 3;
  a.chunk = chunk_blocks(p, a.pattern);
  a.fetch_ahead = !in_l2 && a.pattern.identity;
  if (in_l2 && a.pattern.identity) {  // a walk down the rows then keeps its window in L1
    const int64_t window = p.in[2] * a.pattern.lanes * size_of(p.dtype) * p.filter[1];
    a.chunk = std::clamp<int64_t>((24 << 10) / std::max<int64_t>(window, 1), 1, a.chunk);
  }
  if (in_l2 && state.threads > 1) {
    const int64_t share = planes * a.pattern.blocks / (kTasksPerThread * state.threads);
    a.chunk = std::clamp<int64_t>(share, 1, a.chunk);
  }
  const int64_t tasks = planes * ceil_div(a.pattern.blocks, a.chunk);
  if (in_l2 && tasks >= kTasksPerThread * state.threads) {
    a.band = std::max<int64_t>(P, 1);
    return;
  }
  a.band = rows_per_task(P, tasks, state.threads);
  const int64_t row_bytes = std::max<int64_t>(bytes(p) / (planes * std::max<int64_t>(P, 1)), 1);
  if (a.fetch_ahead)
    a.band = std::min(a.band, std::max(least_band, (int64_t{1} << 19) / row_bytes));
  const int64_t share =
      P * tasks / (int64_t{2} * state.threads);  // leaves two tasks for each thread
  if (p.filter[1] > 1) a.band = std::max(a.band, std::min({P, least_band, share}));
}

Result<Launchable> bind(const ConvProblem& p, const Config& config, const Device& device) {
  const DeviceInfo& info = device.info();
  State state = {.problem = p, .lanes = tier_lanes(info.isa)};
  state.threads = worthwhile_threads(compute_us(p, config, info), info.threads);
  state.tile = CONVOY_PICK_TIER(info.isa, channel_lanes);
  LanePattern& pattern = state.args.pattern;
  pattern = lane_pattern(p, state.lanes);
  cut_tasks(p, info, state);
  const int64_t outer = p.N * out_extent(p, 0) * ceil_div(pattern.blocks, state.args.chunk);
  constexpr int64_t kTiles = 56;
  const int64_t rows = std::max<int64_t>(outer, 1) * ceil_div(out_extent(p, 1), state.args.band);
  state.args.segment =
      kTiles * rows_per_task(ceil_div(out_extent(p, 2), kTiles), rows, state.threads);
  const int64_t floats = pattern.blocks * pattern.lanes * gemm_k(p);
  return Launchable{.state = std::make_shared<State>(state),
                    .packed_bytes = static_cast<size_t>(floats) * sizeof(float),
                    .views = Views::kUnitInner,
                    .pack = pack,
                    .run = run};
}

}  // namespace

extern const Kernel cpu_channel_lanes_fprop;
const Kernel cpu_channel_lanes_fprop = {declines, configure, estimate_us, bind};

}  // namespace convoy
