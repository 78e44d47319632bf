// The implicit GEMM's descriptors on every index, tails included: against loops, and summed up
// against the reference convolution.
#include "tensor/igemm_descriptors.h"

#include <convoy/problem.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "kernel/reference/sums.h"

namespace convoy {
namespace {

constexpr i64 kInvalid = std::numeric_limits<i64>::min();
constexpr i64 kTail = 7;  // how far past each extent the tests ask

// Problems over rank, tails, asymmetric padding, dilation, stride, odd cpg and kpg, and groups.
const char* const kProblems[] = {
    "conv2d fprop f32 n2 c4 k4 h4 w5 r3 s3 pad1",
    "conv2d fprop f32 n2 c6 k10 g2 h5 w4 r3 s2 stride2x1 pad1:0x0:2 dil1x2",
    "conv2d fprop f32 n1 c12 k8 g4 h3 w6 r1 s1",
    "conv2d fprop f32 n2 c12 k4 g4 h5 w7 r1 s1 stride2",
    "conv2d fprop f32 n3 c4 k8 g4 h3 w3 r3 s3 pad1",
    "conv2d fprop f32 n1 c8 k4 g4 h1 w7 r3 s3 pad1 dil1x2",
    "conv2d fprop f32 n1 c9 k15 g3 h7 w6 r2 s4 stride3x2 pad0:2x3:1 dil2x1",
    "conv2d fprop f32 n1 c1 k1 h4 w4 r4 s4",
    "conv2d fprop f32 n1 c6 k6 g6 h2 w2 r5 s3 pad4:3x1:2",
    "conv1d fprop f32 n3 c4 k6 g2 w9 s3 stride2 pad2:0",
    "conv1d fprop f32 n1 c5 k5 g5 w8 s4 causal",
    "conv1d fprop f32 n2 c3 k2 w5 s5 pad3:1 dil2",
    "conv3d fprop f32 n1 c4 k6 g2 d3 h4 w3 t2 r3 s2 stride1x2x1 pad1:0x1x0:1 dil1x1x2",
    "conv3d fprop f32 n2 c3 k3 g3 d2 h3 w4 t3 r1 s3 stride2x1x3 pad1x0x1",
    "conv3d fprop f32 n1 c8 k4 g4 d4 h2 w2 t2 r2 s1 dil2x1x1",
    "conv2d fprop f32 n0 c4 k4 g2 h3 w3 r2 s2",
};

enum class Memory { kNchw, kNhwc, kGaps, kReversed };

// Element strides of five extents. kGaps: channels last with room after every axis; kReversed:
// channels first, walked backwards.
void set_strides(const i64 (&extent)[5], Memory memory, i64 (&stride)[5]) {
  const bool channels_last = memory == Memory::kNhwc || memory == Memory::kGaps;
  const int orders[2][5] = {{4, 3, 2, 1, 0}, {1, 4, 3, 2, 0}};
  i64 next = memory == Memory::kReversed ? -1 : 1;
  for (const int axis : orders[channels_last ? 1 : 0]) {
    stride[axis] = next;
    next *= extent[axis] + (memory == Memory::kGaps ? 3 : 0);
  }
}

IgemmSizes sizes_of(const ConvProblem& p, Memory memory) {
  IgemmSizes s{.N = p.N, .C = p.C, .K = p.K, .G = p.G};
  for (int d = 0; d < 3; ++d) {
    s.in[d] = p.in[d];
    s.filter[d] = p.filter[d];
    s.out[d] = out_extent(p, d);
    s.stride[d] = p.stride[d];
    s.pad_lo[d] = p.pad_lo[d];
    s.dilation[d] = p.dilation[d];
  }
  set_strides({s.N, s.C, s.in[0], s.in[1], s.in[2]}, memory, s.x_stride);
  set_strides({s.K, s.cpg(), s.filter[0], s.filter[1], s.filter[2]}, memory, s.w_stride);
  set_strides({s.N, s.K, s.out[0], s.out[1], s.out[2]}, memory, s.y_stride);
  return s;
}

i64 offset_of(const i64 (&stride)[5], i64 a, i64 b, i64 c, i64 d, i64 e) {
  return a * stride[0] + b * stride[1] + c * stride[2] + d * stride[3] + e * stride[4];
}

// Offsets over (group, row, column), kInvalid where there is no element.
struct Expected {
  i64 rows, columns;
  std::vector<i64> offset;

  Expected(i64 groups, i64 row_count, i64 column_count)
      : rows(row_count + kTail),
        columns(column_count + kTail),
        offset(static_cast<size_t>(groups * rows * columns), kInvalid) {}
  i64& at(i64 g, i64 i, i64 j) { return offset[static_cast<size_t>((g * rows + i) * columns + j)]; }
};

// f(m, n, z, p, q) for every row, f(k, t, r, s, c) for every tap: the loops that count them.
template <class F>
void for_each_row(const IgemmSizes& s, F f) {
  for (i64 m = 0, n = 0; n < s.N; ++n)
    for (i64 z = 0; z < s.out[0]; ++z)
      for (i64 p = 0; p < s.out[1]; ++p)
        for (i64 q = 0; q < s.out[2]; ++q)
          f(m++, n, z, p, q);
}
template <class F>
void for_each_tap(const IgemmSizes& s, i64 channels, F f) {
  for (i64 k = 0, t = 0; t < s.filter[0]; ++t)
    for (i64 r = 0; r < s.filter[1]; ++r)
      for (i64 i = 0; i < s.filter[2]; ++i)
        for (i64 c = 0; c < channels; ++c)
          f(k++, t, r, i, c);
}

Expected expected_input(const IgemmSizes& s) {
  Expected a(s.G, s.gemm_m(), s.gemm_k());
  const auto position = [&](int d, i64 o, i64 f) {
    const i64 i = o * s.stride[d] + f * s.dilation[d] - s.pad_lo[d];
    return i < s.in[d] ? i : -1;
  };
  for (i64 g = 0; g < s.G; ++g) {
    for_each_row(s, [&](i64 m, i64 n, i64 z, i64 p, i64 q) {
      for_each_tap(s, s.cpg(), [&](i64 k, i64 t, i64 r, i64 i, i64 c) {
        const i64 d = position(0, z, t), h = position(1, p, r), w = position(2, q, i);
        if (d < 0 || h < 0 || w < 0) return;
        a.at(g, m, k) = offset_of(s.x_stride, n, g * s.cpg() + c, d, h, w);
      });
    });
  }
  return a;
}

// B of `merged` groups at a time; with merged = 1 the plain one.
Expected expected_filter(const IgemmSizes& s, i64 merged) {
  Expected b(s.G / merged, merged * s.kpg(), merged * s.gemm_k());
  for (i64 g = 0; g < s.G; ++g) {
    for (i64 n = 0; n < s.kpg(); ++n) {
      for_each_tap(s, merged * s.cpg(), [&](i64 k, i64 t, i64 r, i64 i, i64 channel) {
        if (channel / s.cpg() != g % merged) return;
        b.at(g / merged, g % merged * s.kpg() + n, k) =
            offset_of(s.w_stride, g * s.kpg() + n, channel % s.cpg(), t, r, i);
      });
    }
  }
  return b;
}

Expected expected_output(const IgemmSizes& s) {
  Expected d(s.G, s.gemm_m(), s.kpg());
  for (i64 g = 0; g < s.G; ++g) {
    for_each_row(s, [&](i64 m, i64 n, i64 z, i64 p, i64 q) {
      for (i64 k = 0; k < s.kpg(); ++k)
        d.at(g, m, k) = offset_of(s.y_stride, n, g * s.kpg() + k, z, p, q);
    });
  }
  return d;
}

template <class Index, class Descriptor>
void expect_equal(Expected want, const Descriptor& descriptor, i64 groups) {
  for (i64 g = 0; g < groups; ++g) {
    for (i64 i = 0; i < want.rows; ++i) {
      for (i64 j = 0; j < want.columns; ++j) {
        const auto got =
            descriptor(static_cast<Index>(g), static_cast<Index>(i), static_cast<Index>(j));
        ASSERT_EQ(got.valid ? i64{got.value} : kInvalid, want.at(g, i, j))
            << "group " << g << " row " << i << " column " << j;
      }
    }
  }
}

template <class Index, bool kGrouped>
void expect_plain_descriptors(const IgemmSizes& s) {
  const auto a = InputDescriptor<Index, kGrouped>::of(s);
  const auto by_position = [&](Index g, Index m, Index k) {
    Coords<Index, 4> row{{{m}, {0}, {0}, {0}}};
    for (int i = 3; i > 0; --i) {
      row[i].value = row[0].value % static_cast<Index>(s.out[i - 1]);
      row[0].value /= static_cast<Index>(s.out[i - 1]);
    }
    return a(g, row, k);
  };
  expect_equal<Index>(expected_input(s), a, s.G);
  expect_equal<Index>(expected_input(s), by_position, s.G);
  expect_equal<Index>(expected_filter(s, 1), FilterDescriptor<Index, kGrouped>::of(s), s.G);
  expect_equal<Index>(expected_output(s), OutputDescriptor<Index, kGrouped>::of(s), s.G);
}

template <class Index>
void expect_merged_descriptors(const IgemmSizes& s, i64 merged) {
  const IgemmSizes m = merge_groups(s, merged);
  expect_equal<Index>(expected_input(m), InputDescriptor<Index, true>::of(m), m.G);
  expect_equal<Index>(expected_filter(s, merged), MergedFilterDescriptor<Index>::of(s, merged),
                      m.G);
  expect_equal<Index>(expected_output(m), OutputDescriptor<Index, true>::of(m), m.G);
}

// Small integers behind every offset that a tensor of these strides can have, negative ones too.
struct Storage {
  std::vector<float> values;
  i64 zero;  // where offset 0 lies

  Storage(const i64 (&extent)[5], const i64 (&stride)[5], float first, int step) {
    i64 lowest = 0, highest = 0;
    for (int i = 0; i < 5; ++i) {
      const i64 end = std::max<i64>(extent[i] - 1, 0) * stride[i];
      (end < 0 ? lowest : highest) += end;
    }
    zero = -lowest;
    values.assign(static_cast<size_t>(highest - lowest + 1), first);
    for (size_t i = 0; step != 0 && i < values.size(); ++i)
      values[i] = static_cast<float>(i * step % 11) - 5;
  }
  float& at(i64 offset) { return values[static_cast<size_t>(zero + offset)]; }
  template <class T>
  Operand<T> operand(const i64 (&stride)[5]) {
    Operand<T> o{.data = values.data() + zero};
    std::copy(std::begin(stride), std::end(stride), o.stride.begin());
    return o;
  }
};

// y through the descriptors, then every element and every gap of y.
template <class A, class B, class D>
void expect_convolves(const ConvProblem& p, const IgemmSizes& s, const IgemmSizes& gemm, const A& a,
                      const B& b, const D& d) {
  const i64 y_extent[5] = {s.N, s.K, s.out[0], s.out[1], s.out[2]};
  Storage x({s.N, s.C, s.in[0], s.in[1], s.in[2]}, s.x_stride, 0, 7);
  Storage w({s.K, s.cpg(), s.filter[0], s.filter[1], s.filter[2]}, s.w_stride, 0, 3);
  Storage y(y_extent, s.y_stride, std::nanf(""), 0);
  for (i64 g = 0; g < gemm.G; ++g) {
    for (i64 m = 0; m < gemm.gemm_m() + kTail; ++m) {
      for (i64 n = 0; n < gemm.kpg() + kTail; ++n) {
        float sum = 0;
        for (i64 k = 0; k < gemm.gemm_k() + kTail; ++k) {
          const auto left = a(g, m, k), right = b(g, n, k);
          if (left.valid && right.valid) sum += x.at(left.value) * w.at(right.value);
        }
        const auto out = d(g, m, n);
        if (!out.valid) continue;
        ASSERT_TRUE(std::isnan(y.at(out.value))) << "stored twice";
        y.at(out.value) = sum;
      }
    }
  }
  i64 stored = 0;
  for (const float v : y.values)
    stored += !std::isnan(v);
  ASSERT_EQ(stored, s.gemm_m() * s.K) << "a store outside y";
  for_each_row(s, [&](i64, i64 n, i64 z, i64 h, i64 q) {
    for (i64 k = 0; k < s.K; ++k) {
      const Sum want = fprop_sum<float>(p, x.operand<const float>(s.x_stride),
                                        w.operand<const float>(s.w_stride), {n, k, z, h, q});
      ASSERT_EQ(y.at(offset_of(s.y_stride, n, k, z, h, q)), want.value);
    }
  });
}

class IgemmDescriptors : public testing::TestWithParam<std::tuple<const char*, Memory>> {
 protected:
  ConvProblem problem() const { return *parse_problem(std::get<0>(GetParam())); }
  IgemmSizes sizes() const { return sizes_of(problem(), std::get<1>(GetParam())); }
};

TEST_P(IgemmDescriptors, EveryIndex) {
  const IgemmSizes s = sizes();
  expect_plain_descriptors<i32, true>(s);
  expect_plain_descriptors<i64, true>(s);
  if (s.G != 1) return;
  expect_plain_descriptors<i32, false>(s);
  expect_plain_descriptors<i64, false>(s);
}

TEST_P(IgemmDescriptors, EveryIndexOfMergedGroups) {
  const IgemmSizes s = sizes();
  for (i64 merged = 1; merged <= s.G; ++merged) {
    if (s.G % merged != 0) continue;
    expect_merged_descriptors<i32>(s, merged);
    expect_merged_descriptors<i64>(s, merged);
  }
}

TEST_P(IgemmDescriptors, SumsToTheConvolution) {
  const IgemmSizes s = sizes();
  expect_convolves(problem(), s, s, InputDescriptor<i64, true>::of(s),
                   FilterDescriptor<i64, true>::of(s), OutputDescriptor<i64, true>::of(s));
  if (s.G == 1) {
    expect_convolves(problem(), s, s, InputDescriptor<i64, false>::of(s),
                     FilterDescriptor<i64, false>::of(s), OutputDescriptor<i64, false>::of(s));
  }
  for (i64 merged = 1; merged <= s.G; ++merged) {
    if (s.G % merged != 0) continue;
    const IgemmSizes m = merge_groups(s, merged);
    expect_convolves(problem(), s, m, InputDescriptor<i64, true>::of(m),
                     MergedFilterDescriptor<i64>::of(s, merged),
                     OutputDescriptor<i64, true>::of(m));
  }
}

INSTANTIATE_TEST_SUITE_P(Lattice, IgemmDescriptors,
                         testing::Combine(testing::ValuesIn(kProblems),
                                          testing::Values(Memory::kNchw, Memory::kNhwc,
                                                          Memory::kGaps, Memory::kReversed)));

}  // namespace
}  // namespace convoy
