// Coordinate transforms: small maps from what a kernel counts to where a strided tensor keeps it.
#pragma once

#include "base/portable.h"
#include "tensor/magic_division.h"

namespace convoy {

// A coordinate, and whether it names something: an invalid one must not be loaded or stored.
// The last step of every chain gives an offset in elements in the same form.
template <class Index>
struct Coord {
  Index value;
  bool valid = true;
};

template <class Index, int kCount>
struct Coords {
  Coord<Index> at[kCount];

  CONVOY_HD constexpr const Coord<Index>& operator[](int i) const { return at[i]; }
  CONVOY_HD constexpr Coord<Index>& operator[](int i) { return at[i]; }
};

// Sums and products wrap in the unsigned type: a tail coordinate may leave the index range, and
// what it wraps to is masked by the transform that bounds it.
template <class Index>
struct UnsignedOf;
template <>
struct UnsignedOf<i32> {
  using type = u32;
};
template <>
struct UnsignedOf<i64> {
  using type = u64;
};

// a + b * c.
template <class Index>
CONVOY_HD constexpr Index multiply_add(Index b, Index c, Index a) {
  using U = typename UnsignedOf<Index>::type;
  return static_cast<Index>(static_cast<U>(b) * static_cast<U>(c) + static_cast<U>(a));
}

template <class Index>
CONVOY_HD constexpr Coord<Index> pass_through(Coord<Index> u) {
  return u;
}

// A coordinate that the caller fixes, such as the group of a thread block.
template <class Index>
CONVOY_HD constexpr Coord<Index> freeze(Index value) {
  return {value, true};
}

// The same value, valid only in [lo, hi).
template <class Index>
CONVOY_HD constexpr Coord<Index> pad(Coord<Index> u, Index lo, Index hi) {
  return {u.value, u.valid && lo <= u.value && u.value < hi};
}

// Position u of the part [begin, begin + length) of a longer axis.
template <class Index>
CONVOY_HD constexpr Coord<Index> slice(Coord<Index> u, Index begin, Index length) {
  return {multiply_add<Index>(1, begin, u.value),
          u.valid && Index{0} <= u.value && u.value < length};
}

// One coordinate -> several, outermost first. The leading one has no bound: it passes its extent
// exactly when u passes the product of the extents, so pad() on it masks the tail. u >= 0.
template <class Index, int kCount>
struct Unmerge {
  Divider<Index> inner[kCount - 1];  // the extents after the first

  CONVOY_HD constexpr Coords<Index, kCount> operator()(Coord<Index> u) const {
    Coords<Index, kCount> lower{};
    Index rest = u.value;
    for (int i = kCount - 1; i > 0; --i) {
      const Index quotient = inner[i - 1].quotient(rest);
      lower[i] = {rest - quotient * inner[i - 1].divisor(), u.valid};
      rest = quotient;
    }
    lower[0] = {rest, u.valid};
    return lower;
  }
};

// Several coordinates -> one, outermost first; the inverse of Unmerge.
template <class Index, int kCount>
struct Merge {
  Index inner[kCount - 1];  // the extents after the first

  CONVOY_HD constexpr Coord<Index> operator()(const Coords<Index, kCount>& u) const {
    Coord<Index> lower = u[0];
    for (int i = 1; i < kCount; ++i) {
      lower = {multiply_add(lower.value, inner[i - 1], u[i].value), lower.valid && u[i].valid};
    }
    return lower;
  }
};

// offset + sum of stride * u, valid only in [lo, hi).
template <class Index, int kCount>
struct Embed {
  Index offset;
  Index stride[kCount];
  Index lo, hi;

  CONVOY_HD constexpr Coord<Index> operator()(const Coords<Index, kCount>& u) const {
    Coord<Index> lower{offset, true};
    for (int i = 0; i < kCount; ++i) {
      lower = {multiply_add(u[i].value, stride[i], lower.value), lower.valid && u[i].valid};
    }
    return pad(lower, lo, hi);
  }
};

// The memory at the end of a chain: coordinates -> offset in elements.
template <class Index, int kCount>
struct Strided {
  Index stride[kCount];

  CONVOY_HD constexpr Coord<Index> operator()(const Coords<Index, kCount>& u) const {
    Coord<Index> offset{0, true};
    for (int i = 0; i < kCount; ++i) {
      offset = {multiply_add(u[i].value, stride[i], offset.value), offset.valid && u[i].valid};
    }
    return offset;
  }
};

}  // namespace convoy
