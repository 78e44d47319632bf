// The narrow tile: whole planes of 7 or 8 rows and columns of outputs of a depthwise 3x3 filter,
// two rows a vector.
#pragma once

#include <type_traits>

#include "kernel/cpu/row_lanes/row_lanes_loads.h"

namespace convoy {
namespace {

constexpr int kNarrowVectors = 4;

// Rows end to end: a tap is one load at its offset from the plane. Lanes by filter column, for
// input rows (-1, 0), for inner pairs of rows, for the pairs (6, 7) and (7, 8); the row that does
// not exist is left out.
struct NarrowLanes {
  Mask top[3], inner[3], bottom[3], below[3];
  Mask pair, last;  // outputs of a vector, of the last one
};

inline NarrowLanes narrow_lanes(const RowLanesArgs& a) {
  const int64_t W = a.in[2], H = a.in[1];
  NarrowLanes m = {};
  m.pair = first_lanes(2 * W);
  m.last = first_lanes((H - 6) * W);
  for (int64_t s = 0; s < 3; ++s) {
    for (int64_t i = 0; i < 2 * W; ++i) {
      const int64_t column = i % W + s - 1;
      if (column >= 0 && column < W) m.inner[s] |= 1U << i;
    }
    m.top[s] = m.inner[s] & ~first_lanes(W);
    m.bottom[s] = m.inner[s] & m.last;
    m.below[s] = m.inner[s] & first_lanes((H - 7) * W);
  }
  return m;
}

// Nine weights, four sums, 24 loads. One row of two planes a vector, rolling, took 35 us on
// 960x7x7, one core of a Xeon with AVX-512.
template <class T>
inline void narrow_sums(const Vec (&weights)[9], const NarrowLanes& m, const T* x, int64_t W,
                        Vec (&sums)[kNarrowVectors]) {
  for (Vec& sum : sums)
    sum = zero();
#pragma GCC unroll 16
  for (int h = -1; h < 2 * kNarrowVectors; ++h) {  // input rows h and h + 1
    const Mask* lanes = h < 0 ? m.top : h < 6 ? m.inner : h == 6 ? m.bottom : m.below;
#pragma GCC unroll 4
    for (int s = 0; s < 3; ++s) {
      const Vec v = load(lanes[s], x + h * W + s - 1);
#pragma GCC unroll 4
      for (int j = 0; j < kNarrowVectors; ++j) {
        const int r = h + 1 - 2 * j;
        if (r < 0 || r > 2) continue;
        sums[j] = fma(lanes[s], v, weights[3 * r + s], sums[j]);
      }
    }
  }
}

// At stride 2 from 13 or 14 rows and columns: the lanes of two input rows, two apart, every second
// of them, so that a row of outputs has 8 lanes, of which 7 are used.
struct HalvedLanes {
  Mask row[3], last_row[3];  // of a load, by filter column; of the last input row
  Mask top[3], inner[3], bottom[3], below[3];
};

inline HalvedLanes halved_lanes(const RowLanesArgs& a) {
  constexpr Mask kFirst = 0xff, kSecond = 0xff00;
  const int64_t W = a.in[2];
  HalvedLanes m = {};
  for (int64_t s = 0; s < 3; ++s) {
    m.row[s] = inside_lanes(s - 1, W);
    for (int64_t q = 0; q < 7; ++q) {
      const int64_t column = 2 * q + s - 1;
      if (column >= 0 && column < W) m.inner[s] |= 0x101U << q;
    }
    m.top[s] = m.inner[s] & kSecond;
    m.bottom[s] = m.inner[s] & kFirst;
    if (a.in[1] < 14) continue;
    m.last_row[s] = m.row[s];
    m.below[s] = m.bottom[s];
  }
  return m;
}

template <class T>
inline void halved_sums(const Vec (&weights)[9], const HalvedLanes& m, const T* x, int64_t W,
                        Vec (&sums)[kNarrowVectors]) {
  for (Vec& sum : sums)
    sum = zero();
#pragma GCC unroll 4
  for (int j = 0; j < kNarrowVectors; ++j) {
#pragma GCC unroll 4
    for (int r = 0; r < 3; ++r) {
      const int h = 4 * j + r - 1;  // and h + 2
      const bool last = j + 1 == kNarrowVectors, below = last && r == 2;
      const Mask* lanes = h < 0 ? m.top : below ? m.below : last ? m.bottom : m.inner;
#pragma GCC unroll 4
      for (int s = 0; s < 3; ++s) {
        const T* row = x + h * W + s - 1;
        const Vec first = h < 0 ? zero() : load(below ? m.last_row[s] : m.row[s], row);
        const Vec second = last ? zero() : load(m.row[s], row + 2 * W);
        sums[j] = fma(lanes[s], even_lanes(first, second), weights[3 * r + s], sums[j]);
      }
    }
  }
}

template <class T>
inline void store_narrow(const NarrowLanes& m, T* y, int64_t Q, const Vec (&sums)[kNarrowVectors]) {
#pragma GCC unroll 4
  for (int j = 0; j < kNarrowVectors; ++j)
    store(j + 1 < kNarrowVectors ? m.pair : m.last, y + 2 * j * Q, sums[j]);
}

template <class T>
inline void store_narrow(const HalvedLanes&, T* y, int64_t Q, const Vec (&sums)[kNarrowVectors]) {
  constexpr Mask kFirst = 0x7f, kSecond = 0x7f00;
#pragma GCC unroll 4
  for (int j = 0; j < kNarrowVectors; ++j) {
    store(kFirst, y + 2 * j * Q, sums[j]);
    if (j + 1 < kNarrowVectors) store(kSecond, y + (2 * j + 1) * Q - 8, sums[j]);
  }
}

template <class T, class Lanes>
[[gnu::noinline]] void narrow_planes(const RowLanesArgs& a, const Lanes& m, int64_t n, int64_t k,
                                     int64_t k_end) {
  const int64_t W = a.in[2];
  for (; k < k_end; ++k) {
    Vec weights[9], sums[kNarrowVectors];
#pragma GCC unroll 9
    for (int i = 0; i < 9; ++i)
      weights[i] = set1(a.w[k * a.w_stride[0] + i / 3 * a.w_stride[3] + i % 3 * a.w_stride[4]]);
    const T* x = static_cast<const T*>(a.x) + n * a.x_stride[0] + k * a.x_stride[1];
    T* y = static_cast<T*>(a.y) + n * a.y_stride[0] + k * a.y_stride[1];
    if constexpr (std::is_same_v<Lanes, HalvedLanes>) {
      halved_sums(weights, m, x, W, sums);
    } else {
      narrow_sums(weights, m, x, W, sums);
    }
    finish_all(sums, set1(bias_at<T>(a.epilogue, k)), a.epilogue.activation);
    store_narrow(m, y, a.out[2], sums);
  }
}

}  // namespace
}  // namespace convoy
