// The rolling tile of channel_lanes: depthwise 3x3 at stride 1 or 2 down a strip of rows. Three
// open output rows of 7 columns are 21 sums; with 9 weights and an input they fill 31 of 32
// registers, and each input is read once. At stride 2 two rows are open.
#pragma once

#include "kernel/cpu/channel_lanes/block.h"

namespace convoy {
namespace {

inline constexpr int kRollColumns = 7;

inline bool rolls(const ChannelLanesArgs& a) {
  const Geometry& g = a.g;
  return kLanes == 16 && a.pattern.identity && g.filter[0] == 1 && g.filter[1] == 3 &&
         g.filter[2] == 3 && g.stride[1] <= 2 && g.stride[2] == g.stride[1] && g.dilation[1] == 1 &&
         g.dilation[2] == 1 && g.out[2] % kRollColumns == 0;
}

// Input row x feeds open row 0 through filter row kFirst, and at stride kStride the rows after it
// through kFirst - kStride and so on: the order r, then s for each output. Bit c of `inside`:
// column c of the tile lies in the input.
template <int kStride, int kFirst, int kOpen, class T>
inline void roll_row(Vec (&open)[kOpen][kRollColumns], const Vec (&w)[3][3], const T* x,
                     int64_t pixel, unsigned inside) {
  constexpr int kFed = kFirst / kStride + 1 < kOpen ? kFirst / kStride + 1 : kOpen;
#pragma GCC unroll 16
  for (int c = 0; c < (kRollColumns - 1) * kStride + 3; ++c) {
    if ((inside >> c & 1U) != 0) {
      const Vec v = load(x);
#pragma GCC unroll 8
      for (int i = 0; i < kRollColumns; ++i) {
        const int s = c - i * kStride;
        if (s < 0 || s > 2) continue;
#pragma GCC unroll 3
        for (int row = 0; row < kFed; ++row)
          open[row][i] = fma(v, w[kFirst - row * kStride][s], open[row][i]);
      }
    }
    x += pixel;
  }
}

template <int kOpen>
inline void shift_rows(Vec (&open)[kOpen][kRollColumns]) {
#pragma GCC unroll 8
  for (int i = 0; i < kRollColumns; ++i) {
#pragma GCC unroll 3
    for (int row = 0; row + 1 < kOpen; ++row)
      open[row][i] = open[row + 1][i];
    open[kOpen - 1][i] = zero();
  }
}

// Output rows [at.p, p_end) of one tile.
template <int kStride, class T>
[[gnu::noinline]] inline void roll_down(const ChannelLanesArgs& a, const Block<T>& block,
                                        int64_t q0, Position at, int64_t p_end, Ahead (&ahead)[2]) {
  constexpr int kOpen = kStride == 1 ? 3 : 2;
  const Geometry& g = a.g;
  Vec w[3][3], open[kOpen][kRollColumns];
#pragma GCC unroll 9
  for (int tap = 0; tap < 9; ++tap)
    w[tap / 3][tap % 3] = load(block.w + tap * kLanes);
#pragma GCC unroll 8
  for (int i = 0; i < kRollColumns; ++i) {
#pragma GCC unroll 3
    for (int row = 0; row < kOpen; ++row)
      open[row][i] = zero();
  }
  const int64_t first = q0 * kStride - g.pad[2];
  unsigned inside = 0;
  for (int c = 0; c < (kRollColumns - 1) * kStride + 3; ++c) {
    if (first + c >= 0 && first + c < g.in[2]) inside |= 1U << c;
  }
  const int64_t pixel = g.x_stride[4], row = g.x_stride[3], H = g.in[1];
  const T* x = block.x + at.n * g.x_stride[0] + first * pixel;
  const auto in_plane = [H](int64_t h) { return h >= 0 && h < H; };
  // The input row that meets tap 2 of output row p closes it. The rows before the first of those
  // open the strip.
  int64_t h = at.p * kStride - g.pad[1];
  if constexpr (kStride == 1) {
    for (int i = 0; i < 2; ++i, ++h) {
      if (in_plane(h)) roll_row<1, 2>(open, w, x + h * row, pixel, inside);
      shift_rows(open);
    }
  } else {
    if (in_plane(h)) roll_row<2, 2>(open, w, x + h * row, pixel, inside);
    shift_rows(open);
    ++h;
  }
  for (; at.p < p_end; ++at.p, ++h) {
    ahead[0].ask();
    ahead[1].ask();
    if constexpr (kStride == 2) {
      if (in_plane(h)) roll_row<2, 1>(open, w, x + h * row, pixel, inside);
      ++h;
    }
    if (in_plane(h)) roll_row<kStride, 2>(open, w, x + h * row, pixel, inside);
    store_row<T, true, false>(g, block, open[0], q0, at);
    shift_rows(open);
  }
}

}  // namespace
}  // namespace convoy
