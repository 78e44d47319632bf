// The host's choices for the implicit GEMM over channel planes, testable without a device.
#pragma once

#include <convoy/device.h>
#include <convoy/problem.h>
#include <convoy/run_args.h>

#include <optional>

#include "kernel/gpu/igemm_planes/igemm_planes_config.h"
#include "kernel/kernel.h"

namespace convoy {

// The configuration for a problem that igemm_planes_declines() lets pass.
IgemmPlanesConfig igemm_planes_config(const ConvProblem& p, const DeviceInfo& device);
std::optional<Decline> igemm_planes_declines(const ConvProblem& p, const DeviceInfo& device);
// Blocks of the grid.
int64_t igemm_planes_blocks(const ConvProblem& p, const IgemmPlanesConfig& config);
IgemmPlanesArgs igemm_planes_args(const ConvProblem& p, const IgemmPlanesConfig& config,
                                  const RunArgs& operands);

}  // namespace convoy
