// Checks the operands of one call against the problem of its plan.
#pragma once

#include <convoy/plan.h>

namespace convoy {

// Shapes, dtypes, devices, missing operands, and results that overlap an input or themselves.
Status check_operands(const ConvProblem& p, const DeviceInfo& device, const RunArgs& args);
Status check_weights(const ConvProblem& p, const DeviceInfo& device, const TensorView& w);

}  // namespace convoy
