// One op of the manifest against the C++ functions of the problem.
#pragma once

#include <span>

#include "manifest/manifest.h"

namespace convoy::manifest {

// Rules, shapes, flops, bytes, operands, defaults and options of `op`, on a lattice of small
// problems and on the workloads of its rank and pass.
void check_op(const Op& op, std::span<const WorkloadRow> workloads, const FaultSink& sink);

// `implemented` needs, for each dtype and operand option that the op lists, a workload and a test
// in `root`, and a measured record for each kernel and dtype.
void check_evidence(const Op& op, const Manifest& manifest, const std::string& root,
                    const FaultSink& sink);

}  // namespace convoy::manifest
