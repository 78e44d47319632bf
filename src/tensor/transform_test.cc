// Each coordinate transform against its definition, in and out of range, for both index types.
#include "tensor/transform.h"

#include <gtest/gtest.h>

#include <limits>

namespace convoy {
namespace {

template <class Index>
class Transform : public testing::Test {};
using IndexTypes = testing::Types<i32, i64>;
TYPED_TEST_SUITE(Transform, IndexTypes);

TYPED_TEST(Transform, PassThroughAndFreeze) {
  const Coord<TypeParam> kept = pass_through(Coord<TypeParam>{5, false});
  EXPECT_EQ(kept.value, 5);
  EXPECT_FALSE(kept.valid);
  EXPECT_EQ(freeze(TypeParam{7}).value, 7);
  EXPECT_TRUE(freeze(TypeParam{7}).valid);
}

TYPED_TEST(Transform, PadKeepsTheValueAndBoundsIt) {
  for (TypeParam u = -3; u < 9; ++u) {
    for (const bool valid : {false, true}) {
      const auto got = pad(Coord<TypeParam>{u, valid}, TypeParam{-1}, TypeParam{6});
      EXPECT_EQ(got.value, u);
      EXPECT_EQ(got.valid, valid && u >= -1 && u < 6);
    }
  }
}

TYPED_TEST(Transform, SliceShiftsAndBounds) {
  for (TypeParam u = -2; u < 7; ++u) {
    for (const bool valid : {false, true}) {
      const auto got = slice(Coord<TypeParam>{u, valid}, TypeParam{10}, TypeParam{4});
      EXPECT_EQ(got.value, 10 + u);
      EXPECT_EQ(got.valid, valid && u >= 0 && u < 4);
    }
  }
}

TYPED_TEST(Transform, UnmergeLeavesTheLeadingCoordinateUnbounded) {
  using D = Divider<TypeParam>;
  const Unmerge<TypeParam, 4> unmerge{{D::by(3), D::by(1), D::by(5)}};
  TypeParam u = 0;
  for (TypeParam a = 0; a < 4; ++a) {
    for (TypeParam b = 0; b < 3; ++b) {
      for (TypeParam d = 0; d < 5; ++d, ++u) {
        const auto got = unmerge({u, a != 1});
        EXPECT_EQ(got[0].value, a);
        EXPECT_EQ(got[1].value, b);
        EXPECT_EQ(got[2].value, 0);
        EXPECT_EQ(got[3].value, d);
        for (int i = 0; i < 4; ++i)
          EXPECT_EQ(got[i].valid, a != 1);
      }
    }
  }
}

TYPED_TEST(Transform, MergeUndoesUnmerge) {
  using D = Divider<TypeParam>;
  const Unmerge<TypeParam, 3> unmerge{{D::by(7), D::by(4)}};
  const Merge<TypeParam, 3> merge{{7, 4}};
  for (TypeParam u = 0; u < 200; ++u) {
    EXPECT_EQ(merge(unmerge({u})).value, u);
    EXPECT_TRUE(merge(unmerge({u})).valid);
  }
  for (int i = 0; i < 3; ++i) {
    Coords<TypeParam, 3> one_invalid{{{1}, {2}, {3}}};
    one_invalid[i].valid = false;
    EXPECT_FALSE(merge(one_invalid).valid);
  }
}

TYPED_TEST(Transform, EmbedAndsItsBounds) {
  const Embed<TypeParam, 2> embed{-2, {3, 2}, 0, 6};
  for (TypeParam p = 0; p < 4; ++p) {
    for (TypeParam r = 0; r < 4; ++r) {
      for (const bool valid : {false, true}) {
        const TypeParam want = 3 * p + 2 * r - 2;
        const auto got = embed({{{p, true}, {r, valid}}});
        EXPECT_EQ(got.value, want);
        EXPECT_EQ(got.valid, valid && want >= 0 && want < 6);
      }
    }
  }
}

TYPED_TEST(Transform, StridedSumsAndAnds) {
  const Strided<TypeParam, 3> memory{{100, 0, -7}};
  EXPECT_EQ(memory({{{2}, {9}, {3}}}).value, 179);
  EXPECT_TRUE(memory({{{2}, {9}, {3}}}).valid);
  EXPECT_FALSE(memory({{{2}, {9, false}, {3}}}).valid);
}

// A tail may leave the index range: it wraps, without undefined behaviour, and stays masked.
TYPED_TEST(Transform, TailsWrap) {
  constexpr TypeParam kHuge = std::numeric_limits<TypeParam>::max();
  const Embed<TypeParam, 1> embed{kHuge, {kHuge}, 0, 10};
  EXPECT_FALSE(embed({{pad(Coord<TypeParam>{5}, TypeParam{0}, TypeParam{3})}}).valid);
}

TEST(TransformConstants, FoldAtCompileTime) {
  constexpr Unmerge<i32, 2> kUnmerge{{Divider<i32>::by(10)}};
  static_assert(kUnmerge({123})[0].value == 12 && kUnmerge({123})[1].value == 3);
  constexpr Embed<i32, 1> kEmbed{-1, {2}, 0, 4};
  static_assert(!kEmbed({{{0}}}).valid && kEmbed({{{1}}}).value == 1 && kEmbed({{{1}}}).valid);
}

}  // namespace
}  // namespace convoy
