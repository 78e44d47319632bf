// Overlap of views against marking every byte.
#include "plan/overlap.h"

#include <gtest/gtest.h>

#include <set>

#include "support/random.h"

namespace convoy {
namespace {

alignas(8) std::byte memory[1 << 12];

TensorView random_view(test::Random& r) {
  TensorView v{.dtype = r.pick({DType::kF32, DType::kF16}),
               .rank = static_cast<int>(r.between(1, 4))};
  v.data = memory + 2048 + r.between(0, 60) * size_of(v.dtype);
  for (int i = 0; i < v.rank; ++i) {
    v.sizes[i] = r.between(1, 4);
    v.strides[i] = r.chance(0.15) ? 0 : r.between(-2, 24);
  }
  return v;
}

// The first byte of every element, repeats kept.
std::multiset<int64_t> elements(const TensorView& v) {
  std::multiset<int64_t> all;
  std::array<int64_t, kMaxRank> at = {};
  while (true) {
    int64_t offset = static_cast<std::byte*>(v.data) - memory;
    for (int i = 0; i < v.rank; ++i)
      offset += at[i] * v.strides[i] * size_of(v.dtype);
    all.insert(offset);
    int axis = v.rank - 1;
    while (axis >= 0 && ++at[axis] == v.sizes[axis])
      at[axis--] = 0;
    if (axis < 0) return all;
  }
}

std::set<int64_t> touched(const TensorView& v) {
  std::set<int64_t> all;
  for (const int64_t start : elements(v)) {
    for (int i = 0; i < size_of(v.dtype); ++i)
      all.insert(start + i);
  }
  return all;
}

TEST(Overlap, AgreesWithMarkingEveryByte) {
  int overlapping = 0, apart = 0;
  for (uint64_t seed = 0; seed < 20000; ++seed) {
    test::Random r(seed);
    const TensorView a = random_view(r), b = random_view(r);
    bool shared = false;
    const std::set<int64_t> in_b = touched(b);
    for (const int64_t byte : touched(a))
      shared = shared || in_b.contains(byte);
    ASSERT_EQ(overlaps(a, b), shared) << seed;
    ASSERT_EQ(overlaps(b, a), shared) << seed;
    (shared ? overlapping : apart) += 1;
  }
  EXPECT_GT(overlapping, 2000);
  EXPECT_GT(apart, 2000);
}

TEST(Overlap, SelfOverlapAgreesWithCountingRepeats) {
  int repeats = 0;
  for (uint64_t seed = 0; seed < 20000; ++seed) {
    test::Random r(seed);
    const TensorView v = random_view(r);
    const auto all = elements(v);
    const bool repeated = std::set<int64_t>(all.begin(), all.end()).size() != all.size();
    ASSERT_EQ(self_overlaps(v), repeated) << seed;
    repeats += repeated;
  }
  EXPECT_GT(repeats, 2000);
  EXPECT_LT(repeats, 18000);
}

TEST(Overlap, InterleavedHalvesAreApart) {
  std::vector<int64_t> sizes = {2, 3, 8};
  TensorView even = packed(memory, DType::kF32, sizes);
  for (int i = 0; i < 3; ++i)
    even.strides[i] *= 2;
  TensorView odd = even;
  odd.data = memory + 4;
  EXPECT_FALSE(overlaps(even, odd));
  odd.data = memory + 8;
  EXPECT_TRUE(overlaps(even, odd));
}

TEST(Overlap, AnEmptyViewOverlapsNothing) {
  const std::vector<int64_t> none = {0, 3}, some = {2, 3};
  EXPECT_FALSE(overlaps(packed(memory, DType::kF32, none), packed(memory, DType::kF32, some)));
  EXPECT_FALSE(self_overlaps(packed(memory, DType::kF32, none)));
}

}  // namespace
}  // namespace convoy
