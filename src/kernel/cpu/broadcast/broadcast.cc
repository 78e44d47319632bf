// broadcast: accepts every nhwc problem, made for groups of 9 channels and more.
#include "kernel/cpu/broadcast/broadcast.h"

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

struct State {
  ConvProblem problem;
  BroadcastArgs args;  // without operands
  int lanes;
  int threads;
  void (*tile)(const BroadcastArgs&, int64_t);
};

// Relative speed of a tile by its vectors: one vector meets one broadcast load per multiply-add.
constexpr double kEfficiency[] = {0, 0.7, 0.85, 0.9, 0.9};

// The split of kpg into blocks that wastes the least time on lanes without an output.
int best_vectors(int64_t kpg, int lanes) {
  const int64_t needed = ceil_div(kpg, lanes);
  int best = 1;
  double best_cost = 0;
  for (int v = 1; v <= 4; ++v) {
    const double cost = static_cast<double>(ceil_div(needed, v) * v) / kEfficiency[v];
    if (v == 1 || cost < best_cost) {
      best = v;
      best_cost = cost;
    }
  }
  return best;
}

bool is_pointwise(const ConvProblem& p) {
  for (int d = 0; d < 3; ++d) {
    if (p.filter[d] != 1 || p.stride[d] != 1 || p.pad_lo[d] != 0 || p.pad_hi[d] != 0) return false;
  }
  return true;
}

std::optional<Decline> declines(const ConvProblem&, const DeviceInfo&) {
  return {};
}

Config configure(const ConvProblem& p, const DeviceInfo& device) {
  const int lanes = tier_lanes(device.isa);
  const int vectors = best_vectors(p.kpg(), lanes);
  Config config;
  const int64_t most = (lanes == 16 ? kBroadcastColumns32 : kBroadcastColumns16)[vectors];
  const int64_t Q = is_pointwise(p) ? p.in[0] * p.in[1] * p.in[2] : out_extent(p, 2);
  // Equal tiles: 14 columns in 12s would leave a tile of 2.
  const int64_t columns = ceil_div(Q, ceil_div(Q, most));
  config.values = {vectors, static_cast<int>(columns)};
  config.text = str(tier_name(device.isa), "/", columns, "q x ", vectors, "v of ", lanes);
  const double padded = static_cast<double>(round_up(ceil_div(p.kpg(), lanes), vectors) * lanes);
  config.executed_flops =
      static_cast<int64_t>(static_cast<double>(flops(p)) * padded / static_cast<double>(p.kpg()));
  return config;
}

// 16-bit inputs are widened once per tap and block; a tap of few channels pays for the trip of the
// accumulators through memory.
double compute_us(const ConvProblem& p, const Config& config, const DeviceInfo& device) {
  const double trip = 1 + 4.0 / static_cast<double>(p.cpg());
  const double widened = size_of(p.dtype) == 2 ? 1.15 : 1.0;
  return static_cast<double>(config.executed_flops) * trip * widened /
         (thread_gflops(device) * kEfficiency[config.values[0]] * 1e3);
}

double estimate_us(const ConvProblem& p, const Config& config, const DeviceInfo& device) {
  const double alone = compute_us(p, config, device);
  return spread_us(alone, worthwhile_threads(alone, device.threads), bytes(p), device);
}

template <class T>
void pack_as(const State& state, const Operand<const T>& w, float* to) {
  const ConvProblem& p = state.problem;
  const int64_t width = int64_t{state.args.vectors} * state.lanes;
  for (int64_t group = 0; group < p.G; ++group) {
    for (int64_t k0 = 0; k0 < state.args.blocks * width; k0 += width) {
      for_each_tap(p, [&](int64_t t, int64_t r, int64_t s) {
        for (int64_t c = 0; c < p.cpg(); ++c) {
          for (int64_t k = k0; k < k0 + width; ++k) {
            *to++ = k < p.kpg() ? static_cast<float>(to_f64(w.at(group * p.kpg() + k, c, t, r, s)))
                                : 0.0F;
          }
        }
      });
    }
  }
}

void pack(const void* opaque, const TensorView& w, void* packed) {
  const State& state = *static_cast<const State*>(opaque);
  with_type(state.problem.dtype, [&](auto* type) {
    using T = std::remove_pointer_t<decltype(type)>;
    pack_as<T>(state, operand<const T>(w), static_cast<float*>(packed));
  });
}

// A pointwise layer over packed planes is one long row.
void collapse_planes(Geometry& g) {
  for (const int d : {1, 0}) {
    const bool joined = g.x_stride[d + 2] == g.in[2] * g.x_stride[4] &&
                        g.y_stride[d + 2] == g.out[2] * g.y_stride[4];
    if (g.in[d] != 1 && !joined) return;
    g.in[2] *= g.in[d];
    g.out[2] *= g.out[d];
    g.in[d] = g.out[d] = 1;
  }
}

Status run(const void* opaque, const RunArgs& operands, const void* packed, Stream) {
  const State& state = *static_cast<const State*>(opaque);
  BroadcastArgs args = state.args;
  args.g = geometry(state.problem, operands);
  if (is_pointwise(state.problem)) collapse_planes(args.g);
  args.weights = static_cast<const float*>(packed);
  const int64_t blocks = state.problem.G * args.blocks * args.g.N * args.g.out[0];
  args.band = rows_per_task(args.g.out[1], blocks, state.threads);
  const int64_t rows = blocks * ceil_div(args.g.out[1], args.band);
  args.segment =
      args.columns * rows_per_task(ceil_div(args.g.out[2], args.columns), rows, state.threads);
  const int64_t tasks = rows * ceil_div(args.g.out[2], args.segment);
  parallel_for(tasks, state.threads, [&](int64_t task) { state.tile(args, task); });
  return {};
}

Result<Launchable> bind(const ConvProblem& p, const Config& config, const Device& device) {
  const DeviceInfo& info = device.info();
  State state = {.problem = p, .lanes = tier_lanes(info.isa)};
  state.threads = worthwhile_threads(compute_us(p, config, info), info.threads);
  state.tile = CONVOY_PICK_TIER(info.isa, broadcast);
  state.args.vectors = config.values[0];
  state.args.columns = config.values[1];
  const int64_t width = int64_t{state.args.vectors} * state.lanes;
  state.args.blocks = ceil_div(p.kpg(), width);
  const int64_t floats = p.G * state.args.blocks * width * gemm_k(p);
  return Launchable{.state = std::make_shared<State>(state),
                    .packed_bytes = static_cast<size_t>(floats) * sizeof(float),
                    .views = Views::kUnitInner,
                    .pack = pack,
                    .run = run};
}

}  // namespace

extern const Kernel cpu_broadcast_fprop;
const Kernel cpu_broadcast_fprop = {declines, configure, estimate_us, bind};

}  // namespace convoy
