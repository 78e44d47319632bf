// libFuzzer target: any bytes as an ONNX model end in an answer or one error.
#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "onnx/onnx_model.h"

namespace {

bool fits(const convoy::cli::OnnxTensor& w, const convoy::ConvProblem& p) {
  const convoy::Shape shape = convoy::w_shape(p);
  int64_t bytes = convoy::size_of(p.dtype);
  for (const int64_t size : shape.span())
    bytes *= size;
  return std::equal(w.sizes.begin(), w.sizes.end(), shape.span().begin(), shape.span().end()) &&
         static_cast<int64_t>(w.bytes.size()) == bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr size_t kMost = 1 << 16;
  if (size > kMost) return -1;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto model = convoy::cli::read_onnx_bytes(bytes, "/nonexistent", {});
  if (!model) {
    if (model.status().message().empty()) std::abort();
    return 0;
  }
  for (const auto& conv : model->convs) {
    const bool ready = conv.state == convoy::cli::OnnxConv::State::kReady;
    if (ready != conv.reason.empty()) std::abort();
    if (ready && !convoy::validate(conv.problem).ok()) std::abort();
    if (ready && conv.w && !fits(*conv.w, conv.problem)) std::abort();
  }
  return 0;
}
