// Vectors of elements between global memory and f32 registers.
#pragma once

#include "kernel/gpu/device/epilogue.h"

namespace convoy {

template <int kBytes>
struct RawOf;
template <>
struct RawOf<2> {
  using type = u16;
};
template <>
struct RawOf<4> {
  using type = u32;
};
template <>
struct RawOf<8> {
  using type = Bytes8;
};
template <>
struct RawOf<16> {
  using type = Bytes16;
};

// kCount elements as they lie in memory; kCount * their size is a power of two up to 16.
template <Elem kElem, int kCount>
struct Raw {
  static constexpr int kBytes = kCount * static_cast<int>(sizeof(Storage<kElem>));
  using Type = typename RawOf<kBytes>::type;
  Type value;

  CONVOY_DEVICE u32 word(int i) const {
    if constexpr (kBytes <= 4) {
      return value;
    } else {
      return value.word[i];
    }
  }
  CONVOY_DEVICE float element(int i) const {
    if constexpr (sizeof(Storage<kElem>) == 4) {
      return f32_from_bits(word(i));
    } else {
      return Element<kElem>::widen(static_cast<u16>(word(i / 2) >> i % 2 * 16));
    }
  }
};

// Zeros where not valid, and then nothing is read.
template <Elem kElem, int kCount>
CONVOY_DEVICE Raw<kElem, kCount> load_raw(const void* tensor, i32 offset, bool valid) {
  using R = Raw<kElem, kCount>;
  R raw{};
  if (valid) {
    raw.value = read_only(reinterpret_cast<const typename R::Type*>(
        static_cast<const Storage<kElem>*>(tensor) + offset));
  }
  return raw;
}

template <Elem kElem, int kCount>
CONVOY_DEVICE void store_vector(void* tensor, i32 offset, const float (&v)[kCount]) {
  using R = Raw<kElem, kCount>;
  typename R::Type value{};
  if constexpr (R::kBytes == 2) {
    value = Element<kElem>::round(v[0]);
  } else if constexpr (R::kBytes == 4 && kCount == 1) {
    value = f32_bits(v[0]);
  } else if constexpr (R::kBytes == 4) {
    value = Element<kElem>::round2(v[0], v[1]);
  } else {
    CONVOY_UNROLL
    for (int i = 0; i < R::kBytes / 4; ++i) {
      if constexpr (sizeof(Storage<kElem>) == 4) {
        value.word[i] = f32_bits(v[i]);
      } else {
        value.word[i] = Element<kElem>::round2(v[2 * i], v[2 * i + 1]);
      }
    }
  }
  write_whole(reinterpret_cast<typename R::Type*>(static_cast<Storage<kElem>*>(tensor) + offset),
              value);
}

}  // namespace convoy
