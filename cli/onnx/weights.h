// The constant weights and biases of a model, each read once.
#pragma once

#include "onnx/graph.h"
#include "onnx/onnx_model.h"

namespace convoy::cli {

class WeightReader {
 public:
  WeightReader(const Graph& graph, const std::string& folder) : graph_(graph), folder_(folder) {}

  // What a value holds when it is an initializer, a Constant, or one behind Identity and Cast,
  // rounded to `dtype`; null where the model computes it at run time.
  Result<std::shared_ptr<const OnnxTensor>> read(int value, DType dtype);

  // The float type of a value as far as it is known without computing it.
  std::optional<DType> dtype(int value) const;

 private:
  struct Source {
    int value;
    std::vector<int32_t> casts;  // ONNX types, the last one first
  };
  Source source(int value) const;

  const Graph& graph_;
  const std::string& folder_;
  std::map<std::pair<int, DType>, std::shared_ptr<const OnnxTensor>> done_;
};

}  // namespace convoy::cli
