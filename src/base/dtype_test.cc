// Half and BFloat16 against their definition: every bit pattern, every tie and its neighbours.
#include <convoy/dtype.h>
#include <convoy/status.h>
#include <gtest/gtest.h>

#include <cfenv>
#include <cmath>
#include <vector>

#include "base/int_math.h"
#include "base/str.h"

namespace convoy {
namespace {

// IEEE 754 by its formula, the slow way: sign * 2^e * fraction.
double defined_value(uint16_t bits, int exponent_bits, int mantissa_bits) {
  const double sign = bits >= 0x8000 ? -1 : 1;
  const int e = (bits % 0x8000) / (1 << mantissa_bits);
  const double fraction = static_cast<double>(bits % (1 << mantissa_bits)) / (1 << mantissa_bits);
  const int bias = (1 << (exponent_bits - 1)) - 1;
  if (e == (1 << exponent_bits) - 1) return fraction == 0 ? sign * HUGE_VAL : std::nan("");
  if (e == 0) return sign * std::pow(2.0, 1 - bias) * fraction;
  return sign * std::pow(2.0, e - bias) * (1 + fraction);
}

template <class T>
struct Format;
template <>
struct Format<Half> {
  static constexpr int kExponent = 5, kMantissa = 10;
  static constexpr uint16_t kInf = 0x7c00;
};
template <>
struct Format<BFloat16> {
  static constexpr int kExponent = 8, kMantissa = 7;
  static constexpr uint16_t kInf = 0x7f80;
};

template <class T>
class ShortFloat : public testing::Test {
 protected:
  static double value_of(uint16_t bits) {
    return defined_value(bits, Format<T>::kExponent, Format<T>::kMantissa);
  }
};
using Types = testing::Types<Half, BFloat16>;
TYPED_TEST_SUITE(ShortFloat, Types);

TYPED_TEST(ShortFloat, EveryPatternHasItsValueAndComesBack) {
  for (int i = 0; i < 65536; ++i) {
    const TypeParam v{static_cast<uint16_t>(i)};
    const double want = TestFixture::value_of(v.bits);
    if (std::isnan(want)) {
      ASSERT_TRUE(std::isnan(v.value())) << i;
      ASSERT_TRUE(std::isnan(TypeParam::from(v.value()).value())) << i;
      continue;
    }
    ASSERT_EQ(v.value(), want) << i;
    ASSERT_EQ(TypeParam::from(want).bits, v.bits) << i;
  }
}

// Between neighbours a < b: below the middle gives a, above it b, the middle the even one.
TYPED_TEST(ShortFloat, TiesGoToEvenAndNeighboursToTheNearest) {
  for (uint16_t i = 0; i + 1 < Format<TypeParam>::kInf; ++i) {
    const uint16_t up = i + 1;
    const double middle = (TestFixture::value_of(i) + TestFixture::value_of(up)) / 2;
    for (const double sign : {1.0, -1.0}) {
      const uint16_t s = sign < 0 ? 0x8000 : 0;
      ASSERT_EQ(TypeParam::from(sign * middle).bits, s | (i % 2 == 0 ? i : up)) << i;
      ASSERT_EQ(TypeParam::from(sign * std::nextafter(middle, 0)).bits, s | i) << i;
      ASSERT_EQ(TypeParam::from(sign * std::nextafter(middle, HUGE_VAL)).bits, s | up) << i;
    }
  }
}

TYPED_TEST(ShortFloat, OverflowStartsHalfAStepPastTheLargest) {
  const uint16_t largest = Format<TypeParam>::kInf - 1;
  const double step = TestFixture::value_of(largest) - TestFixture::value_of(largest - 1);
  const double edge = TestFixture::value_of(largest) + step / 2;
  EXPECT_EQ(TypeParam::from(std::nextafter(edge, 0)).bits, largest);
  EXPECT_EQ(TypeParam::from(edge).bits, Format<TypeParam>::kInf);
  EXPECT_EQ(TypeParam::from(-edge).bits, 0x8000 | Format<TypeParam>::kInf);
  EXPECT_EQ(TypeParam::from(1e300).bits, Format<TypeParam>::kInf);
}

TYPED_TEST(ShortFloat, TheRoundingModeOfTheCallerIsIgnored) {
  const double just_above_one = 1 + 0x1p-30;
  for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    ASSERT_EQ(std::fesetround(mode), 0);
    const uint16_t up = TypeParam::from(just_above_one).bits;
    const uint16_t tiny = TypeParam::from(1e-300).bits;
    std::fesetround(FE_TONEAREST);
    EXPECT_EQ(up, TypeParam::from(1.0).bits);
    EXPECT_EQ(tiny, 0);
  }
}

TEST(DTypeTable, NamesSizesAndWhoHasKernels) {
  for (const char* text : {"f32", "tf32", "f16", "bf16", "e4m3", "e5m2", "s8"}) {
    ASSERT_TRUE(dtype_from_name(text)) << text;
    EXPECT_STREQ(name(*dtype_from_name(text)), text);
  }
  EXPECT_FALSE(dtype_from_name("f64"));
  EXPECT_FALSE(dtype_from_name("F32"));
  EXPECT_EQ(size_of(DType::kTf32), 4);
  EXPECT_EQ(size_of(DType::kF16), 2);
  EXPECT_EQ(mantissa_bits(DType::kBf16), 7);
  EXPECT_TRUE(has_kernels(DType::kBf16));
  EXPECT_FALSE(has_kernels(DType::kE4m3));
}

TEST(StatusCodes, HaveTheirWords) {
  EXPECT_STREQ(name(Code::kOk), "ok");
  EXPECT_STREQ(name(invalid("x").code()), "kInvalid");
  EXPECT_STREQ(name(unsupported("x").code()), "kUnsupported");
  EXPECT_STREQ(name(unavailable("x").code()), "kUnavailable");
  EXPECT_STREQ(name(internal("x").code()), "kInternal");
  EXPECT_TRUE(Status().ok());
  const Result<int> failed = invalid("why");
  EXPECT_FALSE(failed);
  EXPECT_EQ(failed.status().message(), "why");
  EXPECT_EQ(*Result<int>(3), 3);
}

TEST(IntMath, DivisionsFollowTheirDefinition) {
  for (int a = -30; a <= 30; ++a) {
    for (int b = 1; b <= 7; ++b) {
      EXPECT_EQ(floor_div(a, b), static_cast<int64_t>(std::floor(static_cast<double>(a) / b)));
      EXPECT_EQ(ceil_div(a, b), static_cast<int64_t>(std::ceil(static_cast<double>(a) / b)));
      EXPECT_EQ(round_up(a, b) % b, 0);
    }
  }
  EXPECT_EQ(floor_div(std::numeric_limits<int64_t>::max(), 2), 4611686018427387903);
}

TEST(IntMath, ProductsThatLeaveTheRangeAreNothing) {
  EXPECT_EQ(checked_product(3, 4, 5), 60);
  EXPECT_EQ(checked_product(int64_t{1} << 62, 1), int64_t{1} << 62);
  EXPECT_EQ(checked_product(int64_t{1} << 62, 2), std::nullopt);
  EXPECT_EQ(checked_product(int64_t{1} << 62, 4, 0), 0);
}

TEST(Str, IgnoresTheLocale) {
  EXPECT_EQ(str("a=", 1234567, " b=", 0.5, 'c'), "a=1234567 b=0.5c");
}

}  // namespace
}  // namespace convoy
