// Grouped fprop as an implicit GEMM: where A (input), B (filter) and D (output) elements lie.
//
// Per group: gemm_m = N*Z*P*Q counts (n,z,p,q), gemm_n = kpg counts output channels, gemm_k =
// T*R*S*cpg counts (t,r,s,c), the last fastest; D[m,n] = sum over k of A[m,k] * B[n,k]. A 1D or 2D
// problem is the 3D one whose leading extents are 1. Any m, n, k >= 0 may be asked for: what lies
// past an extent, or reads padding, is invalid. Mask both operands: 0 * NaN is NaN.
#pragma once

#include "base/portable.h"
#include "tensor/transform.h"

namespace convoy {

// Sizes of a valid problem and the strides of its operands in elements. C and K count all groups.
struct IgemmSizes {
  i64 N, C, K, G;
  i64 in[3], filter[3], out[3];  // (D,H,W), (T,R,S), (Z,P,Q)
  i64 stride[3], pad_lo[3], dilation[3];
  i64 x_stride[5];  // (N,C,D,H,W)
  i64 w_stride[5];  // (K,C/g,T,R,S)
  i64 y_stride[5];  // (N,K,Z,P,Q)

  CONVOY_HD constexpr i64 cpg() const { return C / G; }
  CONVOY_HD constexpr i64 kpg() const { return K / G; }
  CONVOY_HD constexpr i64 gemm_m() const { return N * out[0] * out[1] * out[2]; }
  CONVOY_HD constexpr i64 gemm_k() const { return filter[0] * filter[1] * filter[2] * cpg(); }
};

// Group merging: tiles of `merged` neighbouring groups (a divisor of G) become one group whose
// filter matrix is block-diagonal. A and D of the merged problem are plain descriptors over these
// sizes; B is MergedFilterDescriptor, since memory holds the diagonal only.
CONVOY_HD constexpr IgemmSizes merge_groups(IgemmSizes sizes, i64 merged) {
  sizes.G /= merged;
  return sizes;
}

template <class Index>
CONVOY_HD constexpr Unmerge<Index, 4> unmerge4(const i64 (&extents)[3], i64 innermost) {
  using D = Divider<Index>;
  return {{D::by(extents[1]), D::by(extents[2]), D::by(innermost)}};
}

template <class Index>
CONVOY_HD constexpr Strided<Index, 5> strided5(const i64 (&stride)[5]) {
  Strided<Index, 5> memory{};
  for (int i = 0; i < 5; ++i)
    memory.stride[i] = static_cast<Index>(stride[i]);
  return memory;
}

// Position i of a group's slice of the channels; with one group the slice is the axis.
template <class Index, bool kGrouped>
CONVOY_HD constexpr Coord<Index> in_group([[maybe_unused]] Index group, Coord<Index> i,
                                          Index per_group) {
  if constexpr (kGrouped) {
    return slice(i, group * per_group, per_group);
  } else {
    return pad(i, Index{0}, per_group);
  }
}

// gemm_m -> (n,z,p,q), n valid below N.
template <class Index>
struct RowMap {
  Unmerge<Index, 4> unmerge;
  Index N;

  static CONVOY_HD constexpr RowMap of(const IgemmSizes& s) {
    using D = Divider<Index>;
    return {{{D::by(s.out[0]), D::by(s.out[1]), D::by(s.out[2])}}, static_cast<Index>(s.N)};
  }
  CONVOY_HD constexpr Coords<Index, 4> operator()(Index m) const {
    Coords<Index, 4> row = unmerge(freeze(m));
    row[0] = pad(row[0], Index{0}, N);
    return row;
  }
};

// A: (group, gemm_m, gemm_k) -> x. Without groups the group is not read.
template <class Index, bool kGrouped>
struct InputDescriptor {
  RowMap<Index> rows;
  Unmerge<Index, 4> taps;  // gemm_k -> (t,r,s,c), t unbounded
  Index T, cpg;
  Embed<Index, 2> window[3];  // (z,t) -> d, (p,r) -> h, (q,s) -> w
  Strided<Index, 5> x;

  static CONVOY_HD constexpr InputDescriptor of(const IgemmSizes& s) {
    InputDescriptor a{};
    a.rows = RowMap<Index>::of(s);
    a.taps = unmerge4<Index>(s.filter, s.cpg());
    a.T = static_cast<Index>(s.filter[0]);
    a.cpg = static_cast<Index>(s.cpg());
    for (int d = 0; d < 3; ++d) {
      a.window[d] = {static_cast<Index>(-s.pad_lo[d]),
                     {static_cast<Index>(s.stride[d]), static_cast<Index>(s.dilation[d])},
                     Index{0},
                     static_cast<Index>(s.in[d])};
    }
    a.x = strided5<Index>(s.x_stride);
    return a;
  }

  CONVOY_HD constexpr Coord<Index> operator()(Index group, Index m, Index k) const {
    return (*this)(group, rows(m), k);
  }

  // For a caller that knows its row (n,z,p,q) and saves the divisions.
  CONVOY_HD constexpr Coord<Index> operator()(Index group, const Coords<Index, 4>& row,
                                              Index k) const {
    Coords<Index, 4> tap = taps(freeze(k));
    tap[0] = pad(tap[0], Index{0}, T);
    return x({{pad(row[0], Index{0}, rows.N), channel(group, tap[3]), window[0]({{row[1], tap[0]}}),
               window[1]({{row[2], tap[1]}}), window[2]({{row[3], tap[2]}})}});
  }

 private:
  // The unmerge has bounded c, so no test is left: the group is merged in.
  CONVOY_HD constexpr Coord<Index> channel([[maybe_unused]] Index group, Coord<Index> c) const {
    if constexpr (kGrouped) {
      return Merge<Index, 2>{{cpg}}({{freeze(group), c}});
    } else {
      return pass_through(c);
    }
  }
};

// B: (group, gemm_n, gemm_k) -> w.
template <class Index, bool kGrouped>
struct FilterDescriptor {
  Unmerge<Index, 4> taps;  // gemm_k -> (t,r,s,c), t unbounded
  Index T, kpg;
  Strided<Index, 5> w;

  static CONVOY_HD constexpr FilterDescriptor of(const IgemmSizes& s) {
    return {unmerge4<Index>(s.filter, s.cpg()), static_cast<Index>(s.filter[0]),
            static_cast<Index>(s.kpg()), strided5<Index>(s.w_stride)};
  }

  CONVOY_HD constexpr Coord<Index> operator()(Index group, Index n, Index k) const {
    const Coords<Index, 4> tap = taps(freeze(k));
    return w({{in_group<Index, kGrouped>(group, freeze(n), kpg), tap[3], pad(tap[0], Index{0}, T),
               tap[1], tap[2]}});
  }
};

// B of merged groups: (merged group, gemm_n, gemm_k) -> w. gemm_n counts (g_n, kpg), gemm_k counts
// (t,r,s,g_k,c); off the diagonal, g_k != g_n, the element is zero and has no memory. The mask is
// the same along any run of k that starts at a multiple of its length and divides cpg.
template <class Index>
struct MergedFilterDescriptor {
  Unmerge<Index, 5> taps;
  Unmerge<Index, 2> columns;
  Index T, merged_kpg;
  Strided<Index, 5> w;

  static CONVOY_HD constexpr MergedFilterDescriptor of(const IgemmSizes& s, i64 merged) {
    using D = Divider<Index>;
    return {{{D::by(s.filter[1]), D::by(s.filter[2]), D::by(merged), D::by(s.cpg())}},
            {{D::by(s.kpg())}},
            static_cast<Index>(s.filter[0]),
            static_cast<Index>(merged * s.kpg()),
            strided5<Index>(s.w_stride)};
  }

  CONVOY_HD constexpr Coord<Index> operator()(Index group, Index n, Index k) const {
    const Coords<Index, 5> tap = taps(freeze(k));
    Coord<Index> row = in_group<Index, true>(group, freeze(n), merged_kpg);
    row.valid = row.valid && tap[3].value == columns(freeze(n))[0].value;
    return w({{row, tap[4], pad(tap[0], Index{0}, T), tap[1], tap[2]}});
  }
};

// D: (group, gemm_m, gemm_n) -> y.
template <class Index, bool kGrouped>
struct OutputDescriptor {
  RowMap<Index> rows;
  Index kpg;
  Strided<Index, 5> y;

  static CONVOY_HD constexpr OutputDescriptor of(const IgemmSizes& s) {
    return {RowMap<Index>::of(s), static_cast<Index>(s.kpg()), strided5<Index>(s.y_stride)};
  }

  CONVOY_HD constexpr Coord<Index> operator()(Index group, Index m, Index n) const {
    const Coords<Index, 4> row = rows(m);
    return y({{row[0], in_group<Index, kGrouped>(group, freeze(n), kpg), row[1], row[2], row[3]}});
  }
};

}  // namespace convoy
