// The host's choices for the implicit GEMM, testable without a device.
#pragma once

#include <convoy/device.h>
#include <convoy/problem.h>
#include <convoy/run_args.h>

#include <optional>

#include "kernel/gpu/igemm/igemm_config.h"
#include "kernel/kernel.h"

namespace convoy {

// The configuration for a problem that igemm_declines() lets pass.
IgemmConfig igemm_config(const ConvProblem& p, const DeviceInfo& device);
std::optional<Decline> igemm_declines(const ConvProblem& p, const DeviceInfo& device);
// Blocks of the grid.
int64_t igemm_blocks(const ConvProblem& p, const IgemmConfig& config);

template <class Index, bool kGrouped>
IgemmArgs<Index, kGrouped> igemm_args(const ConvProblem& p, const IgemmConfig& config,
                                      const RunArgs& operands);

}  // namespace convoy
