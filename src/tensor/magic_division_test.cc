// Magic division against the hardware's, on every small divisor and on random ones up to 2^31.
#include "tensor/magic_division.h"

#include <gtest/gtest.h>

#include <random>

namespace convoy {
namespace {

constexpr u32 kLargest = 0x7fffffff;

// Dividends where a wrong multiplier shows first: around multiples of d, and the ends of the range.
void expect_exact(u32 d) {
  const MagicDivisor magic = magic_divisor(d);
  const u32 last = kLargest / d * d;
  for (const u64 multiple : {u64{0}, u64{d}, u64{2} * d, u64{last} / 2 / d * d, u64{last}}) {
    for (const i64 step : {-1, 0, 1}) {
      const i64 n = static_cast<i64>(multiple) + step;
      if (n < 0 || n > kLargest) continue;
      ASSERT_EQ(magic.quotient(static_cast<u32>(n)), static_cast<u32>(n) / d) << n << " / " << d;
    }
  }
  ASSERT_EQ(magic.quotient(kLargest), kLargest / d) << d;
}

TEST(MagicDivision, EverySmallDivisor) {
  for (u32 d = 1; d <= 5000; ++d)
    expect_exact(d);
}

TEST(MagicDivision, AroundPowersOfTwo) {
  for (u32 s = 1; s <= 31; ++s) {
    expect_exact((1u << s) - 1);
    expect_exact(1u << s);
    if (s < 31) expect_exact((1u << s) + 1);
  }
}

TEST(MagicDivision, RandomDivisorsAndDividends) {
  std::mt19937 random(7);
  for (int i = 0; i < 200000; ++i) {
    const u32 d = (random() >> random() % 31) % 0x80000000u + 1;
    expect_exact(d);
    const u32 n = random() & kLargest;
    ASSERT_EQ(magic_divisor(d).quotient(n), n / d) << n << " / " << d;
  }
}

TEST(MagicDivision, ConstantExpression) {
  static_assert(magic_divisor(7).quotient(kLargest) == kLargest / 7);
  static_assert(Divider<i32>::by(10).quotient(99) == 9);
  static_assert(Divider<i64>::by(10).quotient(i64{1} << 40) == (i64{1} << 40) / 10);
}

TEST(MagicDivision, SaysWhereItIsExact) {
  EXPECT_TRUE(magic_is_exact(0, 1));
  EXPECT_TRUE(magic_is_exact(kLargest, 1));
  EXPECT_TRUE(magic_is_exact(kLargest, i64{1} << 31));
  EXPECT_FALSE(magic_is_exact(i64{1} << 31, 3));
  EXPECT_FALSE(magic_is_exact(5, (i64{1} << 31) + 1));
  EXPECT_FALSE(magic_is_exact(5, 0));
  EXPECT_FALSE(magic_is_exact(-1, 3));
}

// The bound is tight: one past it the 32-bit sum wraps.
TEST(MagicDivision, WrongPastTheBound) {
  bool wrong = false;
  for (u32 d = 1; d < 100; ++d) {
    for (const u32 n : {0x80000000u, 0xfffffffeu, 0xffffffffu})
      wrong = wrong || magic_divisor(d).quotient(n) != n / d;
  }
  EXPECT_TRUE(wrong);
}

}  // namespace
}  // namespace convoy
