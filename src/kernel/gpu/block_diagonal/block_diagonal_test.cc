// The block-diagonal device text on the host: index functions lane by lane, and random problems.
#include "kernel/gpu/block_diagonal/block_diagonal.cuh"

#include <gtest/gtest.h>

#include <set>

#include "conformance/trial.h"
#include "kernel/gpu/block_diagonal/block_diagonal.h"

namespace convoy::test {
namespace {

TEST(BlockDiagonalIndex, ExchangedWordsAreNeighbouringChannels) {
  for (const u32 tiles : {2U, 4U}) {
    for (u32 share = 1; share <= tiles; share *= 2) {
      const u32 sets = tiles / share;
      std::set<u32> channels;
      for (u32 tile = 0; tile < tiles; ++tile) {
        for (u32 column = 0; column < 8; ++column) {
          const u32 channel = channel_of(tile, column, share, sets);
          EXPECT_EQ(channel / (8 * share), tile / share) << "a set keeps its channels";
          channels.insert(channel);
        }
      }
      EXPECT_EQ(channels.size(), 8 * tiles);
      // What exchange_words() does: words[i] = word (i with set ^ lane) of lane ^ set of i.
      for (u32 lane = 0; lane < 4; ++lane) {
        for (u32 i = 0; i < tiles; ++i) {
          const u32 from = lane ^ i / share;
          const u32 tile = (i / share ^ from % sets) * share + i % share;
          EXPECT_EQ(channel_of(tile, 2 * from, share, sets),
                    stored_channel(lane, share, sets) + 2 * i);
        }
      }
    }
  }
}

// Every channel that a set's outputs read lies in its chunks, and the chunks in the block's.
TEST(BlockDiagonalIndex, ChunksCoverTheGroups) {
  for (const int cpg : {1, 2, 3, 4, 5, 6, 8, 12, 16, 20, 24, 32}) {
    for (const int kpg : {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64}) {
      for (const int tiles : {2, 4}) {
        const BlockDiagonalConfig config{.cpg = cpg, .kpg = kpg, .tiles = tiles, .k_warps = 3};
        const BlockDiagonalShape s = shape_of(config);
        for (u32 k0 = 0; k0 < 5 * 64 * s.outputs; k0 += 8 * s.share) {
          const u32 first = first_chunk(k0, cpg, kpg), last_k = k0 + 8 * s.share - 1;
          EXPECT_LE((last_k / kpg + 1) * cpg, (first + s.chunks) * kChunk);
          const u32 block = first_chunk(k0 / s.outputs * s.outputs, cpg, kpg);
          EXPECT_LE((last_k / kpg + 1) * cpg, (block + s.block_chunks) * kChunk);
          if (!s.regular) continue;
          EXPECT_EQ(first_chunk(k0 + 8 * s.share, cpg, kpg), first + s.chunks);
        }
      }
    }
  }
}

// The eight rows of a matrix start in different groups of four banks.
TEST(BlockDiagonalIndex, MatrixRowsMeetDifferentBanks) {
  for (const int cpg : {1, 4, 16, 32}) {
    for (const int stride : {1, 2}) {
      for (const int streams : {1, 2, 4}) {
        const BlockDiagonalConfig config{
            .cpg = cpg, .kpg = cpg, .column_stride = stride, .q_warps = 2, .streams = streams};
        const BlockDiagonalShape s = shape_of(config);
        for (u32 matrix = 0; matrix < 2; ++matrix) {
          std::set<u32> banks;
          for (u32 row = 0; row < 8; ++row) {
            const u32 pixel = 8 * matrix + row;
            const u32 slot = pixel / s.columns * s.row_slots + pixel % s.columns;
            banks.insert(slot * s.pitch / 16 % 8);
          }
          EXPECT_EQ(banks.size(), 8U);
        }
        for (u32 column = 0; column < s.in_width; ++column)
          EXPECT_EQ(column_of(slot_of(column, stride, s.plane), stride, s.plane), column);
      }
    }
  }
}

// A draw of what the configuration leaves open.
template <BlockDiagonalConfig kC>
ConvProblem draw_problem(Random& r) {
  constexpr BlockDiagonalShape kShape = shape_of(kC);
  ConvProblem p{.rank = kC.T > 1 ? 3 : kC.R > 1 ? static_cast<int>(r.between(2, 3)) : 1};
  p.layout = Layout::kNhwc;
  p.dtype = kC.elem == Elem::kF16 ? DType::kF16 : DType::kBf16;
  p.G = r.between(1, 2 * kShape.outputs / kC.kpg + 3);
  while (p.G * kC.cpg % 8 != 0 || p.G * kC.kpg % 8 != 0)
    ++p.G;
  p.C = p.G * kC.cpg;
  p.K = p.G * kC.kpg;
  p.N = r.between(1, 3);
  p.filter = {kC.T, kC.R, kC.S};
  if (p.rank > 1) {
    p.dilation[1] = r.chance(0.7) ? 1 : r.between(1, 4);
    p.stride[1] = kC.row_stride * p.dilation[1];
    if (p.dilation[1] % 2 != 0 || kC.row_stride == 1) {  // coprime, or one phase
      if (r.chance(0.5)) p.stride[1] = kC.row_stride;
    }
    if (kC.row_stride == 2 && p.dilation[1] % 2 == 0) p.stride[1] = 2 * p.dilation[1];
  }
  p.stride[2] = kC.column_stride;
  p.dilation[2] = kC.column_dilation;
  if (p.rank == 3) {
    p.stride[0] = r.between(1, 2);
    p.dilation[0] = r.between(1, 2);
  }
  for (int d = p.first_axis(); d < 3; ++d) {
    const int64_t reach = p.dilation[d] * (p.filter[d] - 1) + 1;
    p.pad_lo[d] = r.between(0, reach + 1);
    p.pad_hi[d] = r.between(0, reach + 1);
    const int64_t most = d == 2 ? 3 * kShape.width * kC.column_stride : d == 1 ? 14 : 4;
    p.in[d] = r.between(1, most);
    if (d == 2 && r.chance(0.7)) p.in[d] = r.between(1, kShape.width * kC.column_stride);
    if (p.in[d] + p.pad_lo[d] + p.pad_hi[d] < reach) p.in[d] = reach;
  }
  if (kC.epilogue.bias == BiasKind::kF32) p.bias = BiasType::kF32;
  if (kC.epilogue.bias == BiasKind::kElement) p.bias = BiasType::kSame;
  p.activation = static_cast<Activation>(kC.epilogue.act);
  return p;
}

// Judges `draws` small problems that the configuration serves.
template <BlockDiagonalConfig kC>
void judge(uint64_t seed, int draws) {
  Random r(seed);
  int judged = 0;
  for (int i = 0; judged < draws; ++i) {
    ASSERT_LT(i, 100 * draws) << "nearly all draws are too large";
    Question q{.problem = draw_problem<kC>(r), .seed = r.next()};
    if (!validate(q.problem).ok() || flops(q.problem) > 1 << 20) continue;
    q.data = r.chance(0.3) ? Data::kReals : Data::kIntegers;
    q.non_finite = r.chance(0.3);
    ++judged;
    BlockDiagonalConfig described = kC;
    describe(q.problem, described);
    ASSERT_EQ(spell(described), spell(kC)) << to_text(q.problem);
    const BlockDiagonalChoice choice{.compiled = kC, .segment = r.between(1, 9)};
    // Finite data must do without repair(), which would hide a race or a read of stale memory.
    bool repaired = false;
    const std::string fault = Answer(q).fault_after([&](const RunArgs& operands) {
      const BlockDiagonalArgs args = block_diagonal_args(q.problem, choice, operands);
      const auto kernel = [&] {
        if (q.non_finite) {
          block_diagonal<kC>(args);
        } else {
          repaired |= compute_block<kC>(args);
        }
      };
      emulator::run(static_cast<u32>(block_diagonal_blocks(args, kC)), shape_of(kC).threads,
                    shared_bytes_of(kC), kernel, r.next());
    });
    ASSERT_FALSE(repaired) << to_text(q.problem);
    ASSERT_EQ(fault, "") << to_text(q.problem) << " segment " << choice.segment << " draw " << i
                         << " of " << spell(kC);
  }
}

using C = BlockDiagonalConfig;
constexpr EpilogueKind kBiasRelu = {BiasKind::kElement, Act::kRelu};

TEST(GpuBlockDiagonal, Depthwise) {
  judge<C{.q_warps = 2}>(1, 8);
  judge<C{.elem = Elem::kBf16, .epilogue = kBiasRelu, .k_warps = 1, .q_warps = 1}>(2, 8);
  judge<C{.row_stride = 2, .column_stride = 2, .k_warps = 1, .q_warps = 1, .stages = 3}>(3, 8);
}
TEST(GpuBlockDiagonal, Multipliers) {
  judge<C{.cpg = 1, .kpg = 2, .k_warps = 1, .q_warps = 1}>(4, 8);
  judge<C{.cpg = 2, .kpg = 1, .tiles = 2, .k_warps = 2, .q_warps = 1}>(5, 8);
  judge<C{.cpg = 8, .kpg = 32, .k_warps = 1, .q_warps = 1}>(6, 8);
}
TEST(GpuBlockDiagonal, NarrowGroups) {
  judge<C{.cpg = 4, .kpg = 4, .k_warps = 3, .q_warps = 1, .stages = 3}>(7, 8);
  judge<C{.cpg = 8, .kpg = 8, .q_warps = 1, .streams = 2}>(8, 8);
  judge<C{.cpg = 2, .kpg = 2, .k_warps = 1, .q_warps = 1, .streams = 4, .stages = 2}>(9, 8);
}
TEST(GpuBlockDiagonal, WiderGroups) {
  judge<C{.cpg = 16, .kpg = 16, .k_warps = 1, .q_warps = 1}>(10, 8);
  judge<C{
      .epilogue = {BiasKind::kF32, Act::kGelu}, .cpg = 16, .kpg = 16, .tiles = 2, .q_warps = 1}>(
      11, 15);
  judge<C{.elem = Elem::kBf16, .cpg = 32, .kpg = 32, .tiles = 2, .q_warps = 1}>(12, 8);
}
TEST(GpuBlockDiagonal, GroupsThatShareChunks) {
  judge<C{.cpg = 3, .kpg = 3, .tiles = 2, .q_warps = 1}>(13, 8);
  judge<C{.epilogue = kBiasRelu, .cpg = 12, .kpg = 12, .k_warps = 1, .q_warps = 1}>(14, 8);
  judge<C{.cpg = 24, .kpg = 24, .tiles = 2, .k_warps = 3, .q_warps = 1}>(15, 8);
  judge<C{.cpg = 5, .kpg = 10, .tiles = 2, .k_warps = 1, .q_warps = 1}>(16, 8);
}
TEST(GpuBlockDiagonal, OtherFilters) {
  judge<C{.cpg = 4, .kpg = 4, .R = 5, .S = 5, .tiles = 2, .k_warps = 1, .q_warps = 1}>(17, 8);
  judge<C{.R = 5,
          .S = 4,
          .row_stride = 2,
          .column_dilation = 2,
          .tiles = 2,
          .k_warps = 1,
          .q_warps = 1}>(18, 8);
  judge<C{.cpg = 8, .kpg = 8, .R = 1, .S = 7, .column_stride = 2, .k_warps = 1, .q_warps = 1}>(19,
                                                                                               15);
  judge<C{.T = 3, .tiles = 2, .q_warps = 1}>(20, 8);
  judge<C{.cpg = 16,
          .kpg = 16,
          .T = 2,
          .R = 2,
          .S = 1,
          .tiles = 2,
          .k_warps = 1,
          .q_warps = 1,
          .streams = 2}>(21, 8);
}

}  // namespace
}  // namespace convoy::test
