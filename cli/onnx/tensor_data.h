// Values of ONNX tensors: raw, typed or in external files, checked against their dims.
#pragma once

#include <onnx/onnx_pb.h>

#include "onnx/onnx_model.h"

namespace convoy::cli {

// FLOAT and DOUBLE are kF32, FLOAT16 kF16, BFLOAT16 kBf16; nothing for any other type.
std::optional<DType> dtype_of(int32_t onnx_type);

// Dims are whole and not negative, the byte count fits them, external data lies inside `folder`.
// Types that Convoy does not read are checked for their dims only.
Status check_tensor(const onnx::TensorProto& tensor, const std::string& folder);

// The values of a float tensor that check_tensor() has passed; DOUBLE is rounded to f32.
Result<OnnxTensor> read_tensor(const onnx::TensorProto& tensor, const std::string& folder);

// The same values rounded to another dtype.
Result<OnnxTensor> convert(OnnxTensor from, DType to);

// What small constant operands hold: shapes, axes, pads, scales. Nothing for tensors of more than
// 64 elements, external data or another type.
std::optional<std::vector<int64_t>> small_integers(const onnx::TensorProto& tensor);
std::optional<std::vector<double>> small_reals(const onnx::TensorProto& tensor);

}  // namespace convoy::cli
