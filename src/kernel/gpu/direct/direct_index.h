// Shapes of a direct kernel's tiles: which input rows and columns its filter taps touch.
#pragma once

#include "kernel/gpu/direct/direct_config.h"

namespace convoy {

struct DirectShape {
  int window_rows, window_columns;  // of the input, that a tile and the unrolled taps span
  int vectors;                      // loads of one row, channels first
  int channels;                     // of a block, channels last
  int positions;                    // of a block at once, channels last
  int taps;                         // per staged filter row and channel, channels last
  int staged_rows;                  // filter rows in shared memory at once
  int pitch;                        // between taps there, in f32
};

inline constexpr int kDirectSharedBytes = 48 * 1024;  // what a block has without asking

CONVOY_HD constexpr DirectShape shape_of(const DirectConfig& c) {
  DirectShape s{};
  s.window_rows = (c.p_tile - 1) * c.row_stride + (c.rows - 1) * c.row_dilation + 1;
  s.window_columns = (c.q_tile - 1) * c.column_stride + (c.S - 1) * c.column_dilation + 1;
  s.vectors = (c.lead + s.window_columns + c.vector - 1) / c.vector;
  s.channels = c.lanes * c.k_tile;
  s.positions = kDirectThreads / c.lanes;
  s.taps = c.S * c.cpg;
  s.pitch = s.channels + 4;
  const int whole = c.T * c.R * s.taps * s.pitch * 4;
  s.staged_rows = whole <= kDirectSharedBytes ? c.T * c.R : c.rows;
  return s;
}

CONVOY_HD constexpr int shared_bytes_of(const DirectConfig& c) {
  const DirectShape s = shape_of(c);
  return c.channels_last ? s.staged_rows * s.taps * s.pitch * 4 : 0;
}

// The tap through which output `o` reads position `at` of the window, or -1.
CONVOY_HD constexpr int tap_of(int at, int o, int stride, int taps, int dilation) {
  const int reach = at - o * stride;
  return reach >= 0 && reach % dilation == 0 && reach / dilation < taps ? reach / dilation : -1;
}

// Whether some of `outputs` outputs reads position `at`.
CONVOY_HD constexpr bool touches(int at, int outputs, int stride, int taps, int dilation) {
  for (int o = 0; o < outputs; ++o) {
    if (tap_of(at, o, stride, taps, dilation) >= 0) return true;
  }
  return false;
}

}  // namespace convoy
