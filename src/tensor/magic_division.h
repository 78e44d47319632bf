// Division by a divisor that stays the same for a whole kernel: a multiply, an add and a shift.
#pragma once

#include "base/portable.h"

namespace convoy {

// n / divisor for 0 <= n < 2^31 and 1 <= divisor <= 2^31.
// Source: Granlund and Montgomery 1994, section 4, the round-up variant: with s = ceil(log2 d) and
// multiplier = floor((2^s - d) * 2^32 / d) + 1, the quotient is (mulhi(n, multiplier) + n) >> s.
// Trap: at n = 2^31 the addition carries out of 32 bits, which is why n stays below.
struct MagicDivisor {
  u32 divisor = 1;
  u32 multiplier = 1;
  u32 shift = 0;

  CONVOY_HD constexpr u32 quotient(u32 n) const {
    const u32 high = static_cast<u32>((static_cast<u64>(n) * multiplier) >> 32);
    return (high + n) >> shift;
  }
};

CONVOY_HD constexpr MagicDivisor magic_divisor(u32 divisor) {
  u32 shift = 0;
  while ((u64{1} << shift) < divisor)
    ++shift;
  const u64 excess = (u64{1} << shift) - divisor;
  return {divisor, static_cast<u32>((excess << 32) / divisor + 1), shift};
}

inline constexpr i64 kMagicLimit = i64{1} << 31;  // of dividends, exclusive; of divisors, inclusive

// Whether MagicDivisor is exact for every dividend up to the largest; else divide in 64 bits.
CONVOY_HD constexpr bool magic_is_exact(i64 largest_dividend, i64 divisor) {
  return largest_dividend >= 0 && largest_dividend < kMagicLimit && divisor >= 1 &&
         divisor <= kMagicLimit;
}

// The division that an index type gets: magic for 32 bits, the hardware's for 64.
template <class Index>
struct Divider;

template <>
struct Divider<i32> {
  MagicDivisor magic;

  static CONVOY_HD constexpr Divider by(i64 divisor) {
    return {magic_divisor(static_cast<u32>(divisor))};
  }
  CONVOY_HD constexpr i32 divisor() const { return static_cast<i32>(magic.divisor); }
  CONVOY_HD constexpr i32 quotient(i32 n) const {
    return static_cast<i32>(magic.quotient(static_cast<u32>(n)));
  }
};

template <>
struct Divider<i64> {
  i64 value = 1;

  static CONVOY_HD constexpr Divider by(i64 divisor) { return {divisor}; }
  CONVOY_HD constexpr i64 divisor() const { return value; }
  CONVOY_HD constexpr i64 quotient(i64 n) const { return n / value; }
};

}  // namespace convoy
