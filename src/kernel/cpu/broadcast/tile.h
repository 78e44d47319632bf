// The tile of broadcast: some output columns x 1 to 4 vectors of output channels.
//
// The sum of one output runs over t, r, s, then c. Accumulators rest in memory between taps that
// only a part of the tile may read, which changes no bit.
#pragma once

#include "kernel/cpu/broadcast/broadcast.h"
#include "kernel/cpu/finish.h"
#include "kernel/cpu/window.h"

namespace convoy {
namespace {

inline constexpr int kMostColumns = 14;
inline constexpr int kMostVectors = 4;
inline constexpr int64_t kChannelChunk = 64;  // of 16-bit inputs, widened on the stack

// One filter tap of a tile: the first column's channels and the block's weights.
struct Tap {
  const float* x;
  const float* w;
};

// acc[i][v] += sum over taps and channels of x[i][c] * w[c][v].
template <int kV, int kN>
inline void multiply(float* acc, const Tap* taps, int count, int64_t channels, int64_t step) {
  Vec sums[kN][kV];
#pragma GCC unroll 14
  for (int i = 0; i < kN; ++i) {
#pragma GCC unroll 4
    for (int v = 0; v < kV; ++v)
      sums[i][v] = load(acc + (i * kV + v) * kLanes);
  }
  for (int tap = 0; tap < count; ++tap) {
    const float* w = taps[tap].w;
    // Every third column has a pointer: with 1 and 2 steps as indices, 14 columns fit the
    // registers.
    const float* x[(kN + 2) / 3];
#pragma GCC unroll 5
    for (int i = 0; i < (kN + 2) / 3; ++i)
      x[i] = taps[tap].x + 3 * i * step;
    for (int64_t c = 0; c < channels; ++c) {
      Vec weights[kV];
#pragma GCC unroll 4
      for (int v = 0; v < kV; ++v)
        weights[v] = load(w + v * kLanes);
      w += kV * kLanes;
      const int64_t at[3] = {c, c + step, c + 2 * step};
#pragma GCC unroll 14
      for (int i = 0; i < kN; ++i) {
        const Vec value = set1(x[i / 3][at[i % 3]]);
#pragma GCC unroll 4
        for (int v = 0; v < kV; ++v)
          sums[i][v] = fma(value, weights[v], sums[i][v]);
      }
    }
  }
#pragma GCC unroll 14
  for (int i = 0; i < kN; ++i) {
#pragma GCC unroll 4
    for (int v = 0; v < kV; ++v)
      store(acc + (i * kV + v) * kLanes, sums[i][v]);
  }
}

using Multiply = void (*)(float*, const Tap*, int, int64_t, int64_t);

template <int kV, int... kN>
inline Multiply pick(int64_t columns) {
  static constexpr Multiply kTable[] = {multiply<kV, kN>...};
  return kTable[columns - 1];
}

// The multiply of `columns` columns; the tables reach as far as the registers of the tier.
template <int kV>
inline Multiply multiply_of(int64_t columns) {
  if constexpr (kLanes == 16) {
    if constexpr (kV == 1) return pick<1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14>(columns);
    if constexpr (kV == 2) return pick<2, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12>(columns);
    if constexpr (kV == 3) return pick<3, 1, 2, 3, 4, 5, 6, 7, 8>(columns);
    if constexpr (kV == 4) return pick<4, 1, 2, 3, 4, 5, 6>(columns);
  } else {
    if constexpr (kV == 1) return pick<1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10>(columns);
    if constexpr (kV == 2) return pick<2, 1, 2, 3, 4, 5, 6>(columns);
    if constexpr (kV == 3) return pick<3, 1, 2, 3, 4>(columns);
    if constexpr (kV == 4) return pick<4, 1, 2, 3>(columns);
  }
}

// Gathers the taps that all columns of a tile read and multiplies them together.
template <class T, int kV>
class TileSum {
 public:
  TileSum(const BroadcastArgs& a, int64_t columns) : a_(a), columns_(columns) {
    for (int64_t i = 0; i < columns * kV * kLanes; ++i)
      acc_[i] = 0;
  }

  // Columns [lo, hi) read the channels at x (of column 0); the others skip the tap.
  void add(const T* x, const float* w, int64_t lo, int64_t hi) {
    const int64_t step = a_.g.stride[2] * a_.g.x_stride[4];
    if constexpr (sizeof(T) == 4) {
      if (lo == 0 && hi == columns_ && count_ < kTaps) {
        taps_[count_++] = {x, w};
        if (count_ == kTaps) flush();
        return;
      }
      flush();
      const Tap tap = {x + lo * step, w};
      multiply_of<kV>(hi - lo)(acc_ + lo * kV * kLanes, &tap, 1, a_.g.cpg, step);
    } else {
      add_widened(x, w, lo, hi, step);
    }
  }

  const float* sums() {
    if constexpr (sizeof(T) == 4) flush();
    return acc_;
  }

 private:
  static constexpr int kTaps = 16;

  void flush() {
    if (count_ == 0) return;
    const int64_t step = a_.g.stride[2] * a_.g.x_stride[4];
    multiply_of<kV>(columns_)(acc_, taps_, count_, a_.g.cpg, step);
    count_ = 0;
  }

  void add_widened(const T* x, const float* w, int64_t lo, int64_t hi, int64_t step) {
    float wide[kMostColumns * kChannelChunk];
    for (int64_t c0 = 0; c0 < a_.g.cpg; c0 += kChannelChunk) {
      const int64_t channels = a_.g.cpg - c0 < kChannelChunk ? a_.g.cpg - c0 : kChannelChunk;
      for (int64_t i = lo; i < hi; ++i) {
        const T* from = x + i * step + c0;
        float* to = wide + (i - lo) * kChannelChunk;
        int64_t c = 0;
        for (; c + kLanes <= channels; c += kLanes)
          store(to + c, load(from + c));
        for (; c < channels; ++c)
          to[c] = widen(from[c]);
      }
      const Tap tap = {wide, w + c0 * kV * kLanes};
      multiply_of<kV>(hi - lo)(acc_ + lo * kV * kLanes, &tap, 1, channels, kChannelChunk);
    }
  }

  const BroadcastArgs& a_;
  int64_t columns_;
  int count_ = 0;
  Tap taps_[kTaps];
  alignas(64) float acc_[kMostColumns * kMostVectors * kLanes];
};

// The block of output channels and the row that a tile belongs to.
template <class T>
struct Row {
  const T* x;  // first channel of the group, sample n
  T* y;        // first channel of the block, row (n, z, p)
  const float* w;
  int64_t z, p;
  int64_t channels;  // of the block that exist
  float bias[kMostVectors * kLanes];
};

template <class T, int kV>
inline void store_tile(const Geometry& g, const Row<T>& row, const float* acc, int64_t q0,
                       int64_t columns) {
  for (int v = 0; v < kV; ++v) {
    const Mask mask =
        first_lanes(row.channels - v * kLanes < kLanes ? row.channels - v * kLanes : kLanes);
    const Vec bias = load(row.bias + v * kLanes);
    for (int64_t i = 0; i < columns; ++i) {
      const Vec out = finish(load(acc + (i * kV + v) * kLanes), bias, g.epilogue.activation);
      T* to = row.y + (q0 + i) * g.y_stride[4] + v * kLanes;
      if (mask == first_lanes(kLanes)) {
        store(to, out);
      } else {
        store(mask, to, out);
      }
    }
  }
}

template <class T, int kV>
inline void compute_tile(const BroadcastArgs& a, const Row<T>& row, int64_t q0, int64_t columns) {
  const Geometry& g = a.g;
  TileSum<T, kV> sum(a, columns);
  const int64_t tap_weights = g.cpg * kV * kLanes;
  for (int64_t t = 0; t < g.filter[0]; ++t) {
    const int64_t d = row.z * g.stride[0] - g.pad[0] + t * g.dilation[0];
    if (d < 0 || d >= g.in[0]) continue;
    for (int64_t r = 0; r < g.filter[1]; ++r) {
      const int64_t h = row.p * g.stride[1] - g.pad[1] + r * g.dilation[1];
      if (h < 0 || h >= g.in[1]) continue;
      const T* line = row.x + d * g.x_stride[2] + h * g.x_stride[3];
      const float* w = row.w + (t * g.filter[1] + r) * g.filter[2] * tap_weights;
      for (int64_t s = 0; s < g.filter[2]; ++s, w += tap_weights) {
        const int64_t at = q0 * g.stride[2] - g.pad[2] + s * g.dilation[2];
        const Range inside = inside_range(at, g.stride[2], g.in[2], columns);
        if (inside.lo >= inside.hi) continue;
        sum.add(line + at * g.x_stride[4], w, inside.lo, inside.hi);
      }
    }
  }
  store_tile<T, kV>(g, row, sum.sums(), q0, columns);
}

template <class T>
inline void fill_bias(const Epilogue& e, int64_t k0, int64_t count, float* bias) {
  for (int64_t i = 0; i < kMostVectors * kLanes; ++i) {
    bias[i] = i < count ? bias_at<T>(e, k0 + i) : 0.0F;
  }
}

// Task -> (group, block, n, z, band of rows, segment of columns), the last fastest.
template <class T, int kV>
inline void run_task(const BroadcastArgs& a, int64_t task) {
  const Geometry& g = a.g;
  const int64_t segments = (g.out[2] + a.segment - 1) / a.segment;
  const int64_t bands = (g.out[1] + a.band - 1) / a.band;
  const int64_t q_begin = task % segments * a.segment;
  const int64_t p_begin = task / segments % bands * a.band;
  int64_t rest = task / segments / bands;
  const int64_t z = rest % g.out[0];
  rest /= g.out[0];
  const int64_t n = rest % g.N;
  rest /= g.N;
  const int64_t group = rest / a.blocks, block = rest % a.blocks;
  const int64_t taps = g.filter[0] * g.filter[1] * g.filter[2];
  const int64_t k0 = group * g.kpg + block * kV * kLanes;
  const int64_t left = g.kpg - block * kV * kLanes;
  Row<T> row = {};
  row.x = static_cast<const T*>(g.x) + n * g.x_stride[0] + group * g.cpg * g.x_stride[1];
  row.w = a.weights + rest * taps * g.cpg * kV * kLanes;
  row.z = z;
  row.channels = left < kV * kLanes ? left : kV * kLanes;
  fill_bias<T>(g.epilogue, k0, row.channels, row.bias);
  const int64_t p_end = p_begin + a.band < g.out[1] ? p_begin + a.band : g.out[1];
  const int64_t q_end = q_begin + a.segment < g.out[2] ? q_begin + a.segment : g.out[2];
  for (row.p = p_begin; row.p < p_end; ++row.p) {
    row.y = static_cast<T*>(g.y) + n * g.y_stride[0] + k0 * g.y_stride[1] + z * g.y_stride[2] +
            row.p * g.y_stride[3];
    for (int64_t q0 = q_begin; q0 < q_end; q0 += a.columns) {
      compute_tile<T, kV>(a, row, q0, q_end - q0 < a.columns ? q_end - q0 : a.columns);
    }
  }
}

template <class T>
inline void run_task(const BroadcastArgs& a, int64_t task) {
  if (a.vectors == 1) return run_task<T, 1>(a, task);
  if (a.vectors == 2) return run_task<T, 2>(a, task);
  if (a.vectors == 3) return run_task<T, 3>(a, task);
  run_task<T, 4>(a, task);
}

inline void run_task_any(const BroadcastArgs& a, int64_t task) {
  if (a.g.dtype == DType::kF16) return run_task<F16>(a, task);
  if (a.g.dtype == DType::kBf16) return run_task<Bf16>(a, task);
  run_task<float>(a, task);
}

}  // namespace
}  // namespace convoy
