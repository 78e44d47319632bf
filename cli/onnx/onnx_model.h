// The Conv nodes of an ONNX model: each one's problem and weights, or why it has none.
#pragma once

#include <convoy/convoy.h>

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace convoy::cli {

struct OnnxOptions {
  std::optional<int64_t> batch;         // for dynamic first axes of the model's inputs
  std::map<std::string, int64_t> dims;  // by the dim's name, or INPUT.AXIS where it has none
  std::optional<DType> dtype;           // empty: that of the weights
  Layout layout = Layout::kNchw;
};

// Gapless values, axes in ONNX's order, which is PyTorch's.
struct OnnxTensor {
  DType dtype = DType::kF32;
  std::vector<int64_t> sizes;
  std::vector<std::byte> bytes;
};

struct OnnxConv {
  enum class State {
    kReady,    // `problem` is valid
    kSkipped,  // another kind of convolution
    kUnknown,  // a Conv whose input shape or weight shape stays unknown
  };
  std::string node;  // its name, or the op and its output where it has none
  State state = State::kReady;
  std::string reason;  // why it is skipped or unknown
  ConvProblem problem;
  // In the problem's dtype; null where there is none or the model computes it at run time.
  std::shared_ptr<const OnnxTensor> w, bias;
  std::vector<std::string> inputs;  // names: x, w, bias
};

struct OnnxModel {
  std::vector<OnnxConv> convs;  // every node whose op is a convolution, in the model's order
};

// A broken, truncated or hostile file is kInvalid; so is a Conv that breaks a rule, and a dynamic
// dim that some Conv needs and the options leave open.
Result<OnnxModel> read_onnx(const std::string& path, const OnnxOptions& options);

// The same from memory; external data is looked up in `folder`.
Result<OnnxModel> read_onnx_bytes(std::string_view bytes, const std::string& folder,
                                  const OnnxOptions& options);

}  // namespace convoy::cli
