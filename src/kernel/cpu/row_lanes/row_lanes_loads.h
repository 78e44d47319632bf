// Loads of x along a row and the masks of the lanes whose tap lies inside the
// input.
#pragma once

#include "kernel/cpu/finish.h"
#include "kernel/cpu/row_lanes/row_lanes.h"
#include "kernel/cpu/window.h"

namespace convoy {
namespace {

// Stride along W: two vector loads serve stride 2, a gather the rest.
enum class Step { kOne, kTwo, kAny };

constexpr int kMaxVectors = 4;

struct TapLanes {
  Mask lanes;      // outputs whose tap is inside
  Mask low, high;  // elements of the two loads of Step::kTwo that are inside
};

inline Mask inside_lanes(int64_t first, int64_t extent) {
  return first_lanes(extent - first) & ~first_lanes(-first);
}

// Lanes of one tap whose lane 0 reads column `first`; `outputs` lanes exist.
template <Step kStep>
inline TapLanes tap_lanes(int64_t first, int64_t step, int64_t extent, int64_t outputs) {
  if constexpr (kStep == Step::kOne) {
    return {inside_lanes(first, extent) & first_lanes(outputs), 0, 0};
  }
  const Range in = inside_range(first, step, extent, outputs);
  return {first_lanes(in.hi) & ~first_lanes(in.lo), inside_lanes(first, extent),
          inside_lanes(first + kLanes, extent)};
}

template <Step kStep, bool kMasked, class T>
inline Vec load_x(const T* x, int64_t step, const TapLanes& m) {
  if constexpr (kStep == Step::kOne) {
    return kMasked ? load(m.lanes, x) : load(x);
  } else if constexpr (kStep == Step::kTwo) {
    if constexpr (!kMasked) return even_lanes(load(x), load(x + kLanes));
    return even_lanes(load(m.low, x), load(m.high, x + kLanes));
  } else {
    float lanes[kLanes] = {};
    for (int i = 0; i < kLanes; ++i) {
      if ((m.lanes >> i & 1U) != 0) lanes[i] = widen(x[i * step]);
    }
    return load(static_cast<const float*>(lanes));
  }
}

// The masks of the tile at one column; a task keeps kTiles of them, since all
// channels share them.
constexpr int kTiles = 8;
struct TileLanes {
  int64_t column = -1;
  int vectors = 0;
  bool masked = true;
  TapLanes column_taps[RowLanesArgs::kMaxS][kMaxVectors];
  Mask row_taps[RowLanesArgs::kMaxFlatR][kMaxVectors];  // kFlat only
  Mask stored[kMaxVectors];
};

template <Step kStep>
inline void build_row_lanes(const RowLanesArgs& a, TileLanes& m) {
  const int64_t first = m.column * a.stride[2] - a.pad[2];
  const int64_t end = m.column + m.vectors * kLanes;
  const int64_t last = (end - 1) * a.stride[2] - a.pad[2] + (a.filter[2] - 1) * a.dilation[2] +
                       (kStep == Step::kTwo ? 1 : 0);
  m.masked = kStep == Step::kAny || m.vectors == 1 || first < 0 || last >= a.in[2] ||
             end > a.columns || (a.mode == RowLanesMode::kRolling && is_far(a.epilogue.activation));
  if (!m.masked) return;
  for (int v = 0; v < m.vectors; ++v) {
    const int64_t outputs = a.columns - m.column - v * kLanes;
    m.stored[v] = first_lanes(outputs);
    for (int64_t s = 0; s < a.filter[2]; ++s) {
      m.column_taps[s][v] = tap_lanes<kStep>(first + v * kLanes * a.stride[2] + s * a.dilation[2],
                                             a.stride[2], a.in[2], outputs);
    }
  }
}

inline void build_flat_lanes(const RowLanesArgs& a, TileLanes& m) {
  const int64_t Q = a.out[2];
  for (int v = 0; v < m.vectors; ++v) {
    const int64_t first = m.column + v * kLanes;
    m.stored[v] = first_lanes(a.columns - first);
    for (int64_t s = 0; s < a.filter[2]; ++s)
      m.column_taps[s][v] = {};
    for (int64_t r = 0; r < a.filter[1]; ++r)
      m.row_taps[r][v] = 0;
    int64_t p = first / Q, q = first % Q;
    for (int i = 0; i < kLanes && first + i < a.columns; ++i) {
      const Range s = inside_range(q - a.pad[2], a.dilation[2], a.in[2], a.filter[2]);
      const Range r = inside_range(p - a.pad[1], a.dilation[1], a.in[1], a.filter[1]);
      for (int64_t j = s.lo; j < s.hi; ++j)
        m.column_taps[j][v].lanes |= 1U << i;
      for (int64_t j = r.lo; j < r.hi; ++j)
        m.row_taps[j][v] |= 1U << i;
      if (++q < Q) continue;
      q = 0;
      ++p;
    }
  }
}

template <Step kStep>
inline void build_lanes(const RowLanesArgs& a, int64_t column, int vectors, TileLanes& m) {
  if (m.column == column && m.vectors == vectors) return;
  m.column = column;
  m.vectors = vectors;
  if (a.mode == RowLanesMode::kFlat) return build_flat_lanes(a, m);
  build_row_lanes<kStep>(a, m);
}

// Stores a vector of sums, `v`-th of its tile.
template <bool kMasked, bool kFar = true, class T>
inline void store_y(const RowLanesArgs& a, const TileLanes& m, int v, T* y, Vec sum, Vec bias) {
  const Vec out = finish<kFar>(sum, bias, a.epilogue.activation);
  if constexpr (kMasked) {
    store(m.stored[v], y, out);
  } else {
    store(y, out);
  }
}

}  // namespace
}  // namespace convoy
