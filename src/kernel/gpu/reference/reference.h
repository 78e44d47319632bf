// The arguments of the reference kernels of a GPU.
#pragma once

#include <convoy/problem.h>
#include <convoy/run_args.h>

#include "kernel/gpu/reference/reference_config.h"

namespace convoy {

ReferenceArgs reference_args(const ConvProblem& p, const RunArgs& operands);

}  // namespace convoy
