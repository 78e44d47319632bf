// What the host computes for a direct kernel: pure functions of a problem.
#pragma once

#include <convoy/device.h>
#include <convoy/problem.h>
#include <convoy/run_args.h>

#include "kernel/gpu/direct/direct_config.h"

namespace convoy {

// A configuration and how many positions follow one another in a thread (channels last).
struct DirectChoice {
  DirectConfig compiled;
  int walk = 1;
};

// The tiles for a problem that direct_serves().
DirectChoice direct_choice(const ConvProblem& p, const DeviceInfo& device);
// Fills what the problem and the tiles (k_tile to lanes) fix of a configuration.
void describe(const ConvProblem& p, DirectConfig& config);
// Whether window and weights of a thread fit its registers with the smallest tile.
bool direct_serves(const ConvProblem& p);

DirectArgs direct_args(const ConvProblem& p, const DirectChoice& choice, const RunArgs& operands);
int64_t direct_blocks(const DirectArgs& args, const DirectConfig& config);

std::string spell(const DirectConfig& config);

}  // namespace convoy
