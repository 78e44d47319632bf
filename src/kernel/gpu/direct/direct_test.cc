// The direct device text on the host: random problems of each compiled-in configuration, and the
// choice of configurations.
#include "kernel/gpu/direct/direct.cuh"

#include <gtest/gtest.h>

#include "base/int_math.h"
#include "base/str.h"
#include "conformance/trial.h"
#include "kernel/gpu/direct/direct.h"
#include "support/devices.h"
#include "support/problems.h"

namespace convoy::test {
namespace {

using C = DirectConfig;
constexpr EpilogueKind kBiasRelu = {BiasKind::kElement, Act::kRelu};
constexpr EpilogueKind kWideBias = {BiasKind::kF32, Act::kNone};
constexpr EpilogueKind kWideBiasRelu6 = {BiasKind::kF32, Act::kRelu6};

// Channels and batch; K is not a multiple of a block's channels.
template <C kC>
void draw_channels(Random& r, ConvProblem& p) {
  const int64_t step = kC.channels_last && kC.cpg == 1 && kC.kpg == 1 ? kC.vector : 1;
  p.G = step * r.between(1, 2 * kC.lanes / kC.kpg + 2);
  if (!kC.channels_last) p.G = r.between(1, 7);
  p.C = p.G * kC.cpg;
  p.K = p.G * kC.kpg;
  p.N = r.between(1, 3);
}

// Axis d with at least one output.
void draw_axis(Random& r, ConvProblem& p, int d, int64_t most, int64_t unit, int64_t pad) {
  const int64_t reach = p.dilation[d] * (p.filter[d] - 1) + 1;
  p.pad_lo[d] = pad;
  p.pad_hi[d] = r.between(0, reach + 1);
  p.in[d] = unit * r.between(1, most);
  while (p.in[d] + p.pad_lo[d] + p.pad_hi[d] < reach)
    p.in[d] += unit;
}

template <C kC>
ConvProblem draw_problem(Random& r) {
  ConvProblem p{.rank = kC.T > 1 ? 3 : kC.R > 1 ? static_cast<int>(r.between(2, 3)) : 1};
  p.layout = kC.channels_last ? Layout::kNhwc : Layout::kNchw;
  constexpr DType kTypes[] = {DType::kF32, DType::kTf32, DType::kF16, DType::kBf16};
  p.dtype = kTypes[static_cast<u32>(kC.elem)];
  draw_channels<kC>(r, p);
  p.filter = {kC.T, kC.R, kC.S};
  p.dilation[2] = kC.column_dilation;
  p.stride[2] = kC.column_stride;
  if (p.rank > 1) {
    p.stride[1] = kC.row_stride;
    p.dilation[1] = kC.row_dilation;
    draw_axis(r, p, 1, 4 * kC.p_tile * kC.row_stride, 1, r.between(0, kC.R + 1));
  }
  if (p.rank == 3) {
    p.stride[0] = r.between(1, 2);
    p.dilation[0] = r.between(1, 2);
    draw_axis(r, p, 0, 4, 1, r.between(0, kC.T));
  }
  const int64_t unit = kC.channels_last ? 1 : kC.vector;
  const int64_t pad =
      kC.channels_last ? r.between(0, kC.S + 1) : (unit - kC.lead) % unit + unit * r.between(0, 1);
  draw_axis(r, p, 2, ceil_div(3 * kC.q_tile * kC.column_stride, unit), unit, pad);
  if (kC.epilogue.bias == BiasKind::kF32) p.bias = BiasType::kF32;
  if (kC.epilogue.bias == BiasKind::kElement) p.bias = BiasType::kSame;
  p.activation = static_cast<Activation>(kC.epilogue.act);
  return p;
}

template <C kC>
void judge(uint64_t seed, int draws) {
  Random r(seed);
  int judged = 0;
  for (int i = 0; i < draws; ++i) {
    Question q{.problem = draw_problem<kC>(r), .seed = r.next()};
    if (!kC.channels_last && out_extent(q.problem, 2) % kC.store != 0) continue;
    if (!validate(q.problem).ok() || flops(q.problem) > 1 << 20) continue;
    q.data = r.chance(0.3) ? Data::kReals : Data::kIntegers;
    q.non_finite = r.chance(0.4);
    C described = kC;
    describe(q.problem, described);
    described.store = kC.store;
    // One output row has no stride.
    described.row_stride = kC.row_stride;
    ASSERT_EQ(spell(described), spell(kC)) << to_text(q.problem);
    const DirectChoice choice{.compiled = kC, .walk = static_cast<int>(r.between(1, 3))};
    const std::string fault = Answer(q).fault_after([&](const RunArgs& operands) {
      const DirectArgs args = direct_args(q.problem, choice, operands);
      emulator::run(
          static_cast<u32>(direct_blocks(args, kC)), kDirectThreads, shared_bytes_of(kC),
          [&] { direct<kC>(args); }, r.next());
    });
    ASSERT_EQ(fault, "") << to_text(q.problem) << " draw " << i << " of " << spell(kC);
    ++judged;
  }
  EXPECT_GE(judged, draws / 8) << spell(kC);
}

TEST(GpuDirect, RowsOfVectors) {
  judge<C{.elem = Elem::kF16,
          .epilogue = kBiasRelu,
          .p_tile = 4,
          .q_tile = 8,
          .vector = 8,
          .store = 8,
          .lead = 7}>(1, 80);
  judge<C{.elem = Elem::kF32, .epilogue = kWideBiasRelu6, .p_tile = 3, .vector = 4, .lead = 3}>(2,
                                                                                                40);
  judge<C{.elem = Elem::kTf32, .R = 1, .S = 1, .rows = 1, .vector = 2, .store = 2}>(3, 40);
}
// Dilated rows of many taps: the window, not the tile, is wide.
TEST(GpuDirect, RowsOfLongWindows) {
  judge<C{.elem = Elem::kBf16,
          .epilogue = {BiasKind::kElement, Act::kNone},
          .R = 1,
          .S = 31,
          .column_dilation = 3,
          .p_tile = 1,
          .rows = 1,
          .vector = 4,
          .store = 2,
          .lead = 3}>(11, 40);
}
TEST(GpuDirect, RowsOfScalars) {
  judge<C{.elem = Elem::kBf16, .epilogue = kWideBias, .q_tile = 8}>(4, 60);
  judge<C{.elem = Elem::kF32, .R = 5, .S = 5, .row_stride = 2, .column_stride = 2, .rows = 5}>(5,
                                                                                               60);
}
TEST(GpuDirect, RowsOfGroupsAndMultipliers) {
  judge<C{.elem = Elem::kF16, .cpg = 4, .kpg = 4, .k_tile = 4, .vector = 4, .store = 2, .lead = 3}>(
      6, 60);
  judge<C{.elem = Elem::kF32, .cpg = 1, .kpg = 6, .row_dilation = 2, .k_tile = 3}>(7, 60);
}
TEST(GpuDirect, RowsOfVolumesAndSequences) {
  judge<C{.elem = Elem::kF16, .T = 3, .q_tile = 8, .vector = 2, .store = 2, .lead = 1}>(8, 60);
  judge<C{.elem = Elem::kF16,
          .R = 1,
          .S = 4,
          .p_tile = 1,
          .q_tile = 8,
          .rows = 1,
          .vector = 8,
          .store = 8,
          .lead = 5}>(9, 80);
  judge<C{.elem = Elem::kF32,
          .R = 1,
          .S = 31,
          .p_tile = 1,
          .q_tile = 8,
          .rows = 1,
          .vector = 4,
          .store = 4,
          .lead = 1}>(10, 60);
}
TEST(GpuDirect, RowsOfLargeFilters) {
  judge<C{.elem = Elem::kBf16, .R = 13, .S = 13, .q_tile = 8, .rows = 1, .vector = 2, .store = 1}>(
      11, 50);
  judge<C{.elem = Elem::kF16, .R = 7, .S = 3, .column_dilation = 3, .rows = 1}>(12, 50);
}

TEST(GpuDirect, ChannelsOfVectors) {
  judge<C{.elem = Elem::kF16, .channels_last = true, .k_tile = 4, .vector = 4, .lanes = 4}>(21, 40);
  judge<C{.elem = Elem::kF32,
          .epilogue = kWideBiasRelu6,
          .channels_last = true,
          .row_stride = 2,
          .column_stride = 2,
          .k_tile = 2,
          .vector = 2,
          .lanes = 8}>(22, 40);
  judge<C{.elem = Elem::kBf16,
          .channels_last = true,
          .R = 7,
          .S = 7,
          .k_tile = 4,
          .p_tile = 1,
          .q_tile = 8,
          .rows = 1,
          .vector = 4,
          .lanes = 2}>(23, 30);
}
TEST(GpuDirect, ChannelsOfGroupsAndMultipliers) {
  judge<C{.elem = Elem::kF16,
          .channels_last = true,
          .cpg = 4,
          .kpg = 4,
          .k_tile = 4,
          .p_tile = 1,
          .rows = 1,
          .vector = 4,
          .lanes = 4}>(24, 40);
  judge<C{.elem = Elem::kTf32,
          .epilogue = kWideBias,
          .channels_last = true,
          .cpg = 6,
          .kpg = 2,
          .k_tile = 2,
          .rows = 1,
          .vector = 2,
          .lanes = 8}>(25, 40);
  judge<C{.elem = Elem::kBf16, .channels_last = true, .cpg = 1, .kpg = 3, .lanes = 16}>(26, 40);
}
TEST(GpuDirect, ChannelsOfVolumesAndSequences) {
  judge<C{.elem = Elem::kF16, .channels_last = true, .T = 3, .k_tile = 2, .vector = 2, .lanes = 8}>(
      27, 40);
  judge<C{.elem = Elem::kF32,
          .channels_last = true,
          .R = 1,
          .S = 31,
          .k_tile = 1,
          .p_tile = 1,
          .q_tile = 8,
          .rows = 1,
          .lanes = 32}>(28, 30);
}
// Filters whose weights do not fit shared memory at once.
TEST(GpuDirect, ChannelsOfStagedFilters) {
  constexpr C kC = {.elem = Elem::kF16,
                    .channels_last = true,
                    .R = 13,
                    .S = 13,
                    .k_tile = 4,
                    .p_tile = 1,
                    .q_tile = 4,
                    .rows = 1,
                    .vector = 4,
                    .lanes = 32};
  static_assert(shape_of(kC).staged_rows == 1);
  judge<kC>(29, 25);
}

// Long filter rows on aligned rows of any channel count: windows that shrink the tile.
void stretch_row(Random& r, ConvProblem& p) {
  p.layout = Layout::kNchw;
  p.filter[2] = r.between(1, 64);
  p.dilation[2] = r.between(1, 8);
  p.stride[2] = r.between(1, 4);
  const int64_t reach = (p.filter[2] - 1) * p.dilation[2] + 1;
  p.pad_lo[2] = r.between(0, reach);
  p.pad_hi[2] = r.between(0, reach);
  p.in[2] = round_up(reach, 8) + 8 * r.between(0, 9);
}

// What device text takes for granted of a configuration.
TEST(GpuDirect, ChoosesWhatTheTextCanRun) {
  Random r(7);
  const DeviceInfo device = described_gpu("sm_90");
  int chosen = 0;
  for (int i = 0; i < 8000; ++i) {
    ConvProblem p = random_problem(r);
    p.pass = Pass::kFprop;
    if (i % 2 == 0) stretch_row(r, p);
    if (p.cpg() > 8 || p.N == 0 || !direct_serves(p)) continue;
    const DirectChoice choice = direct_choice(p, device);
    const C& c = choice.compiled;
    const DirectShape s = shape_of(c);
    const std::string what = str(to_text(p), " ", spell(c));
    ASSERT_EQ(p.K % c.k_tile, 0) << what;
    ASSERT_EQ(c.kpg % (c.channels_last && c.cpg == 1 && c.kpg == 1 ? 1 : c.k_tile), 0) << what;
    ASSERT_TRUE(c.rows == 1 || c.rows == c.R) << what;
    if (c.channels_last) {
      ASSERT_EQ((c.cpg == 1 && c.kpg == 1 ? p.C : p.cpg()) % c.vector, 0) << what;
      ASSERT_EQ(kDirectThreads % c.lanes, 0) << what;
      ASSERT_LE(shared_bytes_of(c), kDirectSharedBytes) << what;
    } else {
      ASSERT_EQ(p.in[2] % c.vector, 0) << what;
      ASSERT_EQ(c.q_tile * p.stride[2] % c.vector, 0) << what;
      ASSERT_EQ((p.pad_lo[2] + c.lead) % c.vector, 0) << what;
      ASSERT_EQ(out_extent(p, 2) % c.store, 0) << what;
      ASSERT_EQ(c.q_tile % c.store, 0) << what;
    }
    ASSERT_LE(c.k_tile * c.p_tile * c.q_tile, 32) << what;
    ASSERT_LE(s.window_columns, 104) << what;
    ASSERT_GE(choice.walk, 1);
    ++chosen;
  }
  EXPECT_GE(chosen, 1000);
}

}  // namespace
}  // namespace convoy::test
