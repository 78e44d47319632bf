// The loop nest of the general kernel: sums of one output row in memory, taps one after another.
#pragma once

#include "kernel/cpu/finish.h"
#include "kernel/cpu/general/general.h"
#include "kernel/cpu/window.h"

namespace convoy {
namespace {

constexpr int kChunk = GeneralArgs::kChunk, kBlock = GeneralArgs::kBlock;

// One item: output channels [k0, k0 + block) of group g, columns [q0, q0 + columns) of a row.
struct Item {
  int64_t n, g, k0, z, p, q0;
  int block, columns;
};

inline Item item_at(const GeneralArgs& a, int64_t i) {
  Item t;
  const int64_t chunk = i % a.chunks;
  i /= a.chunks;
  t.p = i % a.out[1];
  i /= a.out[1];
  t.z = i % a.out[0];
  i /= a.out[0];
  const int64_t first = i % a.blocks * kBlock;
  i /= a.blocks;
  t.g = i % a.G;
  t.n = i / a.G;
  t.k0 = t.g * a.kpg + first;
  t.block = static_cast<int>(a.kpg - first < kBlock ? a.kpg - first : kBlock);
  t.q0 = chunk * kChunk;
  t.columns = static_cast<int>(a.out[2] - t.q0 < kChunk ? a.out[2] - t.q0 : kChunk);
  return t;
}

// sums[k][i] += w[k] * x[i] for the n columns of a tap that lie inside the input.
template <class X>
inline void add_tap(float (*sums)[kChunk], int first, int n, const X* x, const float* w,
                    int block) {
  int i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    const Vec v = load(x + i);
    for (int k = 0; k < block; ++k) {
      float* sum = sums[k] + first + i;
      store(sum, fma(set1(w[k]), v, load(sum)));
    }
  }
  if (i == n) return;
  const Mask tail = first_lanes(n - i);
  const Vec v = load(tail, x + i);
  for (int k = 0; k < block; ++k) {
    float* sum = sums[k] + first + i;
    store(tail, sum, fma(set1(w[k]), v, load(tail, sum)));
  }
}

// All taps of one filter row over one input row.
template <class T>
inline void add_row(const GeneralArgs& a, const Item& t, const T* x, const T* w,
                    float (*sums)[kChunk]) {
  const int64_t step = a.stride[2] * a.x_stride[4];
  float weights[kBlock], gathered[kChunk];
  for (int64_t s = 0; s < a.filter[2]; ++s) {
    const int64_t at = t.q0 * a.stride[2] - a.pad[2] + s * a.dilation[2];
    const Range q = inside_range(at, a.stride[2], a.in[2], t.columns);
    if (q.lo >= q.hi) continue;
    const int first = static_cast<int>(q.lo), n = static_cast<int>(q.hi - q.lo);
    for (int k = 0; k < t.block; ++k)
      weights[k] = widen(w[k * a.w_stride[0] + s * a.w_stride[4]]);
    const T* from = x + (at + q.lo * a.stride[2]) * a.x_stride[4];
    if (step == 1) {
      add_tap(sums, first, n, from, weights, t.block);
      continue;
    }
    for (int i = 0; i < n; ++i)
      gathered[i] = widen(from[i * step]);
    add_tap(sums, first, n, static_cast<const float*>(gathered), weights, t.block);
  }
}

template <class T>
inline void store_row(const GeneralArgs& a, const Item& t, const float (*sums)[kChunk]) {
  for (int k = 0; k < t.block; ++k) {
    const Vec bias = set1(bias_at<T>(a.epilogue, t.k0 + k));
    T* y = static_cast<T*>(a.y) + t.n * a.y_stride[0] + (t.k0 + k) * a.y_stride[1] +
           t.z * a.y_stride[2] + t.p * a.y_stride[3] + t.q0 * a.y_stride[4];
    for (int i = 0; i < t.columns; i += kLanes) {
      const Mask m = first_lanes(t.columns - i);
      const Vec v = finish(load(m, sums[k] + i), bias, a.epilogue.activation);
      if (a.y_stride[4] == 1) {
        store(m, y + i, v);
        continue;
      }
      float lanes[kLanes];
      store(lanes, v);
      for (int l = 0; l < kLanes && i + l < t.columns; ++l)
        narrow(lanes[l], y + (i + l) * a.y_stride[4]);
    }
  }
}

template <class T>
void run_item(const GeneralArgs& a, const Item& t) {
  float sums[kBlock][kChunk];
  for (int k = 0; k < t.block; ++k) {
    for (int i = 0; i < t.columns; i += kLanes)
      store(sums[k] + i, zero());
  }
  const int64_t d0 = t.z * a.stride[0] - a.pad[0], h0 = t.p * a.stride[1] - a.pad[1];
  const Range depth = inside_range(d0, a.dilation[0], a.in[0], a.filter[0]);
  const Range row = inside_range(h0, a.dilation[1], a.in[1], a.filter[1]);
  const T* x = static_cast<const T*>(a.x) + t.n * a.x_stride[0] + t.g * a.cpg * a.x_stride[1];
  const T* w = static_cast<const T*>(a.w) + t.k0 * a.w_stride[0];
  for (int64_t c = 0; c < a.cpg; ++c) {
    for (int64_t d = depth.lo; d < depth.hi; ++d) {
      for (int64_t r = row.lo; r < row.hi; ++r) {
        add_row(a, t,
                x + c * a.x_stride[1] + (d0 + d * a.dilation[0]) * a.x_stride[2] +
                    (h0 + r * a.dilation[1]) * a.x_stride[3],
                w + c * a.w_stride[1] + d * a.w_stride[2] + r * a.w_stride[3], sums);
      }
    }
  }
  store_row<T>(a, t, sums);
}

template <class T>
void run_items(const GeneralArgs& a, int64_t task) {
  const int64_t first = task * a.items_per_task;
  for (int64_t i = first; i < first + a.items_per_task && i < a.items; ++i)
    run_item<T>(a, item_at(a, i));
}

inline void run_task(const GeneralArgs& a, int64_t task) {
  if (a.dtype == DType::kF16) return run_items<F16>(a, task);
  if (a.dtype == DType::kBf16) return run_items<Bf16>(a, task);
  return run_items<float>(a, task);
}

}  // namespace
}  // namespace convoy
