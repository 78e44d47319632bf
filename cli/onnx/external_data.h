// Tensor values that lie in files beside the model, never outside its folder.
#pragma once

#include <convoy/status.h>
#include <onnx/onnx_pb.h>

#include <cstddef>
#include <vector>

namespace convoy::cli {

// The file is a regular one inside `folder` (absolute paths, .. and symlinks that leave it are
// refused) and holds `bytes` at the stated offset.
Status check_external(const onnx::TensorProto& tensor, const std::string& folder, int64_t bytes);

Result<std::vector<std::byte>> read_external(const onnx::TensorProto& tensor,
                                             const std::string& folder, int64_t bytes);

}  // namespace convoy::cli
