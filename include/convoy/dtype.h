// The element types of tensors and the two 16-bit floats as host types.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace convoy {

enum class DType {
#define CONVOY_DTYPE(id, text, bits, host, mantissa) id,
#include <convoy/dtype.inc>
#undef CONVOY_DTYPE
};

// IEEE binary16 as bits; converted in one rounding, to nearest even, overflow to Inf, subnormals
// kept.
struct Half {
  uint16_t bits;
  static Half from(double value);
  double value() const;
};

// bfloat16 as bits; converted as Half is.
struct BFloat16 {
  uint16_t bits;
  static BFloat16 from(double value);
  double value() const;
};

const char* name(DType dtype);
std::optional<DType> dtype_from_name(std::string_view text);
int size_of(DType dtype);        // bytes of one element
int mantissa_bits(DType dtype);  // stored bits; the unit roundoff is 2^-(mantissa_bits + 1)
bool has_kernels(DType dtype);   // false for the dtypes that the grammar only reserves

}  // namespace convoy
