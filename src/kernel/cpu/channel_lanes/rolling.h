// The rolling tile of channel_lanes: depthwise 3x3 at stride 1 down a strip of rows. Three open
// output rows of 7 columns are 21 sums; with 9 weights and an input they fill 31 of 32 registers,
// and each input is read once.
#pragma once

#include "kernel/cpu/channel_lanes/block.h"

namespace convoy {
namespace {

inline constexpr int kRollColumns = 7;

inline bool rolls(const ChannelLanesArgs& a) {
  const Geometry& g = a.g;
  return kLanes == 16 && a.pattern.identity && g.filter[0] == 1 && g.filter[1] == 3 &&
         g.filter[2] == 3 && g.stride[1] == 1 && g.stride[2] == 1 && g.dilation[1] == 1 &&
         g.dilation[2] == 1 && g.out[2] % kRollColumns == 0;
}

// Input row x feeds the open rows 0, 1, 2 through filter rows 2, 1, 0: the order r, then s for each
// output. Bit c of `inside`: column c of the nine lies in the input.
template <class T>
inline void roll_row(Vec (&open)[3][kRollColumns], const Vec (&w)[3][3], const T* x, int64_t pixel,
                     unsigned inside) {
#pragma GCC unroll 16
  for (int c = 0; c < kRollColumns + 2; ++c) {
    if ((inside >> c & 1U) != 0) {
      const Vec v = load(x);
#pragma GCC unroll 8
      for (int i = 0; i < kRollColumns; ++i) {
        const int s = c - i;
        if (s < 0 || s > 2) continue;
#pragma GCC unroll 3
        for (int row = 0; row < 3; ++row)
          open[row][i] = fma(v, w[2 - row][s], open[row][i]);
      }
    }
    x += pixel;
  }
}

// Output rows [at.p, p_end) of one tile.
template <class T>
[[gnu::noinline]] inline void roll_down(const ChannelLanesArgs& a, const Block<T>& block,
                                        int64_t q0, Position at, int64_t p_end) {
  const Geometry& g = a.g;
  Vec w[3][3], open[3][kRollColumns];
#pragma GCC unroll 9
  for (int tap = 0; tap < 9; ++tap)
    w[tap / 3][tap % 3] = load(block.w + tap * kLanes);
#pragma GCC unroll 8
  for (int i = 0; i < kRollColumns; ++i)
    open[0][i] = open[1][i] = open[2][i] = zero();
  const int64_t first = q0 - g.pad[2];
  unsigned inside = 0;
  for (int c = 0; c < kRollColumns + 2; ++c) {
    if (first + c >= 0 && first + c < g.in[2]) inside |= 1U << c;
  }
  const int64_t pixel = g.x_stride[4], row = g.x_stride[3];
  const T* x = block.x + at.n * g.x_stride[0] + first * pixel;
  // Input row h closes output row h + pad - 2; the first two of the strip close nothing.
  const int64_t h0 = at.p - g.pad[1];
  for (int64_t h = h0; h < p_end - g.pad[1] + 2; ++h) {
    if (h >= 0 && h < g.in[1]) roll_row(open, w, x + h * row, pixel, inside);
    if (h >= h0 + 2) {
      store_row<T, true, false>(g, block, open[0], q0, at);
      ++at.p;
    }
#pragma GCC unroll 8
    for (int i = 0; i < kRollColumns; ++i) {
      open[0][i] = open[1][i];
      open[1][i] = open[2][i];
      open[2][i] = zero();
    }
  }
}

}  // namespace
}  // namespace convoy
