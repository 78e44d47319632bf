// One Conv node of a model: planned, timed warm, and checked against the f64 reference.
#pragma once

#include <convoy/convoy.h>

#include <map>
#include <string>

#include "onnx/onnx_model.h"

namespace convoy::cli {

struct ConvMeasurement {
  std::string kernel;
  double time_us = 0;  // median of warm runs, weights packed beforehand where the kernel packs
  double limit_us = 0;
  CheckReport check;
};

// Nodes of one problem share a timing; each is checked with its own weights.
class ConvMeasurer {
 public:
  ConvMeasurer(const Device& device, const PlanOptions& options)
      : device_(device), options_(options) {}
  Result<ConvMeasurement> measure(const OnnxConv& conv);

 private:
  Status check_memory(const OnnxConv& conv) const;
  Result<Tensor> operand(const std::shared_ptr<const OnnxTensor>& values, const Shape& shape,
                         const ConvProblem& problem) const;

  Device device_;
  PlanOptions options_;
  std::map<std::string, double> time_us_;  // by problem text
};

}  // namespace convoy::cli
