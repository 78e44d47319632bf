// How a problem lies on the lanes: merged axes, the mode, the items.
#pragma once

#include <string>

#include "kernel/cpu/row_lanes/row_lanes.h"

namespace convoy {

// Merges axes without a filter, then fixes the mode and the items of `a`, whose
// problem, x and y strides and packed w strides are set.
void shape_row_lanes(RowLanesArgs& a, int lanes);

// Channels or rows by vectors of the main tile, as explain prints it: "8k x
// 3v/flat".
std::string row_lanes_tile_text(const RowLanesArgs& a, int lanes);

// Cycles of the loads over cycles of the multiply-adds in the main tile, at
// least 1.
double row_lanes_loads_per_fma(const RowLanesArgs& a, int lanes);

}  // namespace convoy
