// Any bytes as a .npy file: refused with one line, or decoded and written back unchanged.
#include <convoy/convoy.h>

#include <cstdlib>
#include <string_view>
#include <vector>

#include "npy.h"

using namespace convoy;  // NOLINT(google-build-using-namespace)

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view file(reinterpret_cast<const char*>(data), size);
  const Result<cli::NpyHeader> header =
      cli::parse_npy_header(file.substr(0, cli::kNpyHeadBytes), static_cast<int64_t>(size), "x");
  if (!header) {
    if (header.status().message().size() > 400) std::abort();
    return 0;
  }
  std::vector<float> values(static_cast<size_t>(header->elements()));
  const TensorView view = packed(values.data(), DType::kF32, header->shape);
  cli::decode_npy(*header, file.substr(static_cast<size_t>(header->data_offset)), view);
  const Result<std::string> written = cli::encode_npy(view);
  if (!written) std::abort();
  const Result<cli::NpyHeader> again =
      cli::parse_npy_header(std::string_view(*written).substr(0, cli::kNpyHeadBytes),
                            static_cast<int64_t>(written->size()), "x");
  if (!again || again->shape != header->shape) std::abort();
  return 0;
}
