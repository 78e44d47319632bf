// The emulated words against their definitions in lang.h.
#include <gtest/gtest.h>

#include <set>
#include <stdexcept>

#include "kernel/gpu/device/element.h"
#include "kernel/gpu/device/lang.h"

namespace convoy {
namespace {

// D = A * B + D of 16 x 8 x depth, one warp, fragments filled and read as lang.h says.
template <class Elem, int kDepth>
void check_multiply_add() {
  const auto a_at = [](u32 row, u32 k) { return static_cast<float>(row * 3 % 7 + k * 5 % 11) - 4; };
  const auto b_at = [](u32 k, u32 column) { return static_cast<float>(k * 2 % 5 + column) - 3; };
  float result[16][8] = {};
  emulator::run(1, 32, 0, [&] {
    const u32 g = lane_index() / 4, t = lane_index() % 4;
    float d[4] = {1, 1, 1, 1};
    if constexpr (__is_same(Elem, Tf32)) {
      const u32 a[4] = {f32_to_tf32(a_at(g, t)), f32_to_tf32(a_at(g + 8, t)),
                        f32_to_tf32(a_at(g, t + 4)), f32_to_tf32(a_at(g + 8, t + 4))};
      const u32 b[2] = {f32_to_tf32(b_at(t, g)), f32_to_tf32(b_at(t + 4, g))};
      multiply_add<Elem, kDepth>(d, a, b);
    } else {
      u32 a[kDepth / 4], b[kDepth / 8];
      for (u32 i = 0; i < kDepth / 4; ++i) {
        const u32 row = g + i % 2 * 8, k = 2 * t + i / 2 * 8;
        a[i] = Elem::round2(a_at(row, k), a_at(row, k + 1));
      }
      for (u32 i = 0; i < kDepth / 8; ++i) {
        const u32 k = 2 * t + i * 8;
        b[i] = Elem::round2(b_at(k, g), b_at(k + 1, g));
      }
      multiply_add<Elem, kDepth>(d, a, b);
    }
    for (u32 i = 0; i < 4; ++i)
      result[g + i / 2 * 8][2 * t + i % 2] = d[i];
  });
  for (u32 row = 0; row < 16; ++row) {
    for (u32 column = 0; column < 8; ++column) {
      float sum = 1;
      for (u32 k = 0; k < kDepth; ++k)
        sum += a_at(row, k) * b_at(k, column);
      EXPECT_EQ(result[row][column], sum) << row << "," << column;
    }
  }
}

TEST(LangHost, MultiplyAddIsAMatrixProduct) {
  check_multiply_add<F16, 16>();
  check_multiply_add<F16, 8>();
  check_multiply_add<Bf16, 16>();
  check_multiply_add<Bf16, 8>();
  check_multiply_add<Tf32, 8>();
}

TEST(LangHost, LoadMatrixGivesWordsOfRows) {
  emulator::run(1, 32, 512, [] {
    u16* shared = shared_memory<u16>();
    for (u32 i = lane_index(); i < 256; i += 32)
      shared[i] = static_cast<u16>(i);
    sync_warp();
    u32 out[4], turned[4];
    load_matrix<4>(out, shared + lane_index() * 8);
    load_matrix_transposed<4>(turned, shared + lane_index() * 8);
    const u32 g = lane_index() / 4, t = lane_index() % 4;
    for (u32 i = 0; i < 4; ++i) {
      const u32 row = i * 64 + g * 8 + 2 * t, column = i * 64 + 2 * t * 8 + g;
      EXPECT_EQ(out[i], row | (row + 1) << 16);
      EXPECT_EQ(turned[i], column | (column + 8) << 16);
    }
  });
}

TEST(LangHost, CopiesLandNoSoonerThanTheyAreWaitedFor) {
  alignas(16) const u32 source[4] = {1, 2, 3, 4};
  emulator::run(1, 32, 4096, [&] {
    u32* mine = shared_memory<u32>() + lane_index() * 8;
    copy_async<16>(mine, source, true);
    commit_copies();
    copy_async<16>(mine + 4, source, false);
    commit_copies();
    EXPECT_EQ(mine[0], ~0U);
    wait_copies<1>();
    EXPECT_EQ(mine[3], 4U);
    EXPECT_EQ(mine[4], ~0U);
    wait_copies<0>();
    EXPECT_EQ(mine[4], 0U);
  });
}

TEST(LangHost, BarriersOrderAndVotesCount) {
  std::set<u32> seen;
  emulator::run(2, 64, 256, [&] {
    shared_memory<u32>()[thread_index()] = thread_index();
    sync_block();
    EXPECT_EQ(shared_memory<u32>()[63 - thread_index()], 63 - thread_index());
    EXPECT_EQ(any_in_block(thread_index() == 40), true);
    EXPECT_EQ(any_in_block(false), false);
    EXPECT_EQ(any_in_warp(thread_index() == 40), warp_index() == 1);
    EXPECT_EQ(shuffle(thread_index(), 3), warp_index() * 32 + 3);
    seen.insert(block_index() * 64 + thread_index());
  });
  EXPECT_EQ(seen.size(), 128U);
}

TEST(LangHost, ABarrierThatSomeNeverReachIsAnError) {
  EXPECT_THROW(emulator::run(1, 64, 0,
                             [] {
                               if (thread_index() == 5) return;
                               sync_warp();
                             }),
               std::logic_error);
}

TEST(LangHost, AnAddressThatIsNoMultipleIsAnError) {
  alignas(16) u32 words[8] = {};
  const auto throws = [](const std::function<void()>& kernel) {
    EXPECT_THROW(emulator::run(1, 32, 1024, kernel), std::logic_error);
  };
  throws([&] { read_only(reinterpret_cast<const Bytes16*>(words + 2)); });
  throws([&] { read_whole(reinterpret_cast<const Bytes8*>(words + 1)); });
  throws([&] { write_whole(reinterpret_cast<Bytes16*>(words + 1), Bytes16{}); });
  throws([&] { copy_async<16>(shared_memory<u32>(), words + 2, true); });
  throws([&] { copy_async<8>(shared_memory<u32>() + 1, words, true); });
  throws([] {
    u32 out[4];
    load_matrix<4>(out, shared_memory<u8>() + 8 + lane_index() * 16);
  });
  emulator::run(1, 32, 1024, [&] { read_only(reinterpret_cast<const Bytes16*>(words + 4)); });
}

}  // namespace
}  // namespace convoy
