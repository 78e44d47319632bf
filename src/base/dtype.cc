// The dtype table as functions, and the 16-bit floats on the host.
#include <convoy/dtype.h>

#include <bit>
#include <cmath>

namespace convoy {
namespace {

struct Row {
  const char* text;
  int bits;
  int mantissa;
};

constexpr Row kRows[] = {
#define CONVOY_DTYPE(id, text, bits, host, mantissa) {text, bits, mantissa},
#include <convoy/dtype.inc>
#undef CONVOY_DTYPE
};

#define CONVOY_DTYPE(id, text, bits, host, mantissa) static_assert(sizeof(host) * 8 == (bits));
#include <convoy/dtype.inc>
#undef CONVOY_DTYPE

const Row& row(DType dtype) {
  return kRows[static_cast<int>(dtype)];
}

// Rounds to a binary float of `exponent` + `mantissa` + 1 bits by integer arithmetic alone, so that
// the caller's rounding mode does not matter (IEEE 754-2019, 4.3.1 roundTiesToEven).
uint16_t encode(double value, int exponent, int mantissa) {
  const uint64_t raw = std::bit_cast<uint64_t>(value);
  const auto sign = static_cast<uint16_t>((raw >> 63) << 15);
  const uint64_t magnitude = raw & ~(uint64_t{1} << 63);
  const uint16_t inf = static_cast<uint16_t>(((1 << exponent) - 1) << mantissa);
  constexpr uint64_t kInf = uint64_t{0x7ff} << 52;
  if (magnitude > kInf) return sign | inf | static_cast<uint16_t>(1 << (mantissa - 1));
  if (magnitude == kInf) return sign | inf;
  const int e = static_cast<int>(magnitude >> 52) - 1023;
  const int e_min = 2 - (1 << (exponent - 1));
  if (e < e_min - mantissa - 1) return sign;  // below half the smallest subnormal
  const uint64_t significand = (magnitude & ((uint64_t{1} << 52) - 1)) | (uint64_t{1} << 52);
  const int drop = 52 - mantissa + (e < e_min ? e_min - e : 0);
  uint64_t kept = significand >> drop;
  const uint64_t rest = significand & ((uint64_t{1} << drop) - 1);
  const uint64_t half = uint64_t{1} << (drop - 1);
  if (rest > half || (rest == half && (kept & 1) != 0)) ++kept;
  // A carry out of the significand moves into the exponent field, which is what rounding up means.
  const int field = e < e_min ? 0 : e - e_min + 1;
  const uint64_t hidden = e < e_min ? 0 : uint64_t{1} << mantissa;
  const uint64_t bits = (static_cast<uint64_t>(field) << mantissa) + (kept - hidden);
  return bits >= inf ? sign | inf : sign | static_cast<uint16_t>(bits);
}

double decode(uint16_t bits, int exponent, int mantissa) {
  const int field = (bits >> mantissa) & ((1 << exponent) - 1);
  const int fraction = bits & ((1 << mantissa) - 1);
  const int bias = (1 << (exponent - 1)) - 1;
  double magnitude = 0;
  if (field == (1 << exponent) - 1) {
    magnitude = fraction == 0 ? HUGE_VAL : std::nan("");
  } else if (field == 0) {
    magnitude = std::ldexp(fraction, 1 - bias - mantissa);
  } else {
    magnitude = std::ldexp(fraction + (1 << mantissa), field - bias - mantissa);
  }
  return (bits >> 15) != 0 ? -magnitude : magnitude;
}

}  // namespace

Half Half::from(double value) {
  return {encode(value, 5, 10)};
}
double Half::value() const {
  return decode(bits, 5, 10);
}
BFloat16 BFloat16::from(double value) {
  return {encode(value, 8, 7)};
}
double BFloat16::value() const {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

const char* name(DType dtype) {
  return row(dtype).text;
}
int size_of(DType dtype) {
  return row(dtype).bits / 8;
}
int mantissa_bits(DType dtype) {
  return row(dtype).mantissa;
}
bool has_kernels(DType dtype) {
  return dtype < DType::kE4m3;
}

std::optional<DType> dtype_from_name(std::string_view text) {
  for (int i = 0; i < static_cast<int>(std::size(kRows)); ++i) {
    if (text == kRows[i].text) return static_cast<DType>(i);
  }
  return std::nullopt;
}

}  // namespace convoy
