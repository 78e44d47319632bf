// Integer math that cannot wrap: floor and ceil division, checked products.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

namespace convoy {

constexpr int64_t floor_div(int64_t a, int64_t b) {
  const int64_t q = a / b;
  return q * b > a ? q - 1 : q;  // b > 0
}

constexpr int64_t ceil_div(int64_t a, int64_t b) {
  return -floor_div(-a, b);
}  // b > 0
constexpr int64_t round_up(int64_t a, int64_t b) {
  return ceil_div(a, b) * b;
}

// Nothing where the product of non-negative factors exceeds 2^63 - 1.
template <class... Factors>
constexpr std::optional<int64_t> checked_product(Factors... factors) {
  int64_t product = 1;
  bool zero = false;
  bool overflow = false;
  for (const int64_t f : {static_cast<int64_t>(factors)...}) {
    zero = zero || f == 0;
    overflow = overflow || __builtin_mul_overflow(product, f, &product);
  }
  if (zero) return 0;
  if (overflow) return std::nullopt;
  return product;
}

}  // namespace convoy
