// The sliding window of a Conv or pooling node: strides, dilations and resolved padding.
#include "onnx/window.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "onnx/attributes.h"

namespace convoy::cli {
namespace {

Result<Sizes> list(const onnx::NodeProto& node, const char* name, size_t count, int64_t fallback) {
  Sizes values = ints_attribute(node, name);
  if (values.empty()) return Sizes(count, fallback);
  if (values.size() == count) return values;
  return invalid(
      fmt::format("onnx node '{}': {} has {} entries, {} are needed; export the model "
                  "again",
                  node_label(node), name, values.size(), count));
}

// ONNX, Conv: with SAME the output has ceil(L/stride) positions; the odd one of the padding goes
// to the end for SAME_UPPER, to the begin for SAME_LOWER.
int64_t same_total(int64_t length, int64_t filter, int64_t stride, int64_t dilation) {
  __extension__ using Wide = __int128;  // dilation * filter of a hostile file exceeds 64 bits
  const Wide out = (Wide{length} + stride - 1) / stride;
  const Wide total = (out - 1) * stride + Wide{dilation} * (Wide{filter} - 1) + 1 - length;
  return static_cast<int64_t>(
      std::clamp(total, Wide{0}, Wide{std::numeric_limits<int64_t>::max() / 4}));
}

}  // namespace

Result<Window> window_of(const onnx::NodeProto& node, const Sizes& input, const Sizes& filter) {
  const size_t axes = input.size();
  Result<Sizes> stride = list(node, "strides", axes, 1);
  if (!stride) return stride.status();
  Result<Sizes> dilation = list(node, "dilations", axes, 1);
  if (!dilation) return dilation.status();
  Result<Sizes> pads = list(node, "pads", 2 * axes, 0);
  if (!pads) return pads.status();
  Window window{*stride, *dilation, Sizes(pads->begin(), pads->begin() + static_cast<long>(axes)),
                Sizes(pads->begin() + static_cast<long>(axes), pads->end())};
  const std::string word = string_attribute(node, "auto_pad", "NOTSET");
  if (word == "NOTSET" || word.empty()) return window;
  const bool upper = word == "SAME_UPPER", lower = word == "SAME_LOWER";
  if (!upper && !lower && word != "VALID") {
    return invalid(
        fmt::format("onnx node '{}': auto_pad '{}' must be NOTSET, VALID, SAME_UPPER or "
                    "SAME_LOWER; export the model again",
                    node_label(node), word));
  }
  for (size_t i = 0; i < axes; ++i) {
    if (window.stride[i] < 1) {
      return invalid(
          fmt::format("onnx node '{}': strides entry {} must be at least 1; export the "
                      "model again",
                      node_label(node), window.stride[i]));
    }
    const int64_t total =
        word == "VALID" ? 0 : same_total(input[i], filter[i], window.stride[i], window.dilation[i]);
    window.pad_lo[i] = upper ? total / 2 : total - total / 2;
    window.pad_hi[i] = total - window.pad_lo[i];
  }
  return window;
}

}  // namespace convoy::cli
