// Random legal problems that reach every family of kernels, within a budget of multiply-adds.
#pragma once

#include <convoy/convoy.h>

#include "support/random.h"

namespace convoy::test {

// What a draw aims at, so that no family is left to luck.
enum class Flavour {
  kDepthwise,
  kMultiplier,   // one channel in, several filters per group
  kSmallGroups,  // 2 to 8 channels per group
  kWideGroups,   // 9 to 96 channels per group
  kDense,
  kPointwise,
  kCausal,    // conv1d, padded at the begin only
  kTemporal,  // conv3d with sides of one tap
  kHuge,      // filters of 7 to 31 taps a side
  kEdge,      // tiny images, strides and pads past the filter
};
inline constexpr int kFlavours = 10;

// Any pass, dtype, layout, bias and activation that the contract allows.
ConvProblem random_problem(Random& random, Flavour flavour);
ConvProblem random_problem(Random& random);

// The same dtype, layout, filter, stride, dilation, channels per group and epilogue, which device
// kernels compile in; another batch, other groups, extents and pads.
ConvProblem redraw_sizes(Random& random, ConvProblem p);

}  // namespace convoy::test
