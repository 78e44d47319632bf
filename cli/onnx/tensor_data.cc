// Values of ONNX tensors: raw, typed or in external files, checked against their dims.
#include "onnx/tensor_data.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "onnx/external_data.h"

namespace convoy::cli {
namespace {

using onnx::TensorProto;

constexpr int64_t kSmall = 64;
// More than any published filter; a bound for claims backed by a sparse file.
constexpr int64_t kMostBytes = int64_t{1} << 32;

static_assert(std::endian::native == std::endian::little, "raw_data is little-endian");

// How many bytes one element takes in raw_data, and how many elements the typed field holds.
struct Storage {
  int64_t element_bytes = 0;
  int64_t typed_count = 0;
};

std::optional<Storage> storage_of(const TensorProto& t) {
  switch (t.data_type()) {
    case TensorProto::FLOAT:
      return Storage{4, t.float_data_size()};
    case TensorProto::DOUBLE:
      return Storage{8, t.double_data_size()};
    case TensorProto::FLOAT16:
    case TensorProto::BFLOAT16:
    case TensorProto::INT16:
    case TensorProto::UINT16:
      return Storage{2, t.int32_data_size()};
    case TensorProto::INT8:
    case TensorProto::UINT8:
    case TensorProto::BOOL:
      return Storage{1, t.int32_data_size()};
    case TensorProto::INT32:
      return Storage{4, t.int32_data_size()};
    case TensorProto::INT64:
      return Storage{8, t.int64_data_size()};
    default:
      return std::nullopt;
  }
}

Status fault(const TensorProto& t, const std::string& what) {
  return invalid(fmt::format("onnx tensor '{}': {}; export the model again", t.name(), what));
}

Result<int64_t> count_bytes(const TensorProto& t, int64_t element_bytes) {
  int64_t bytes = element_bytes;
  bool overflow = false, zero = false;
  for (const int64_t dim : t.dims()) {
    if (dim < 0) return fault(t, fmt::format("dim {} must not be negative", dim));
    zero = zero || dim == 0;
    overflow = overflow || __builtin_mul_overflow(bytes, dim, &bytes);
  }
  if (zero) return int64_t{0};
  if (overflow || bytes > kMostBytes) {
    return fault(t, fmt::format("dims {} claim more than {} bytes",
                                shape_text({t.dims().data(), static_cast<size_t>(t.dims_size())}),
                                kMostBytes));
  }
  return bytes;
}

bool is_external(const TensorProto& t) {
  return t.data_location() == TensorProto::EXTERNAL;
}

template <class T, class Field>
void append_bytes(const Field& field, std::vector<std::byte>& to) {
  to.resize(static_cast<size_t>(field.size()) * sizeof(T));
  std::byte* at = to.data();
  for (const auto v : field) {
    const T narrow = static_cast<T>(v);
    std::memcpy(at, &narrow, sizeof(T));
    at += sizeof(T);
  }
}

Result<std::vector<std::byte>> read_bytes(const TensorProto& t, const std::string& folder) {
  if (is_external(t)) {
    const std::optional<Storage> storage = storage_of(t);
    Result<int64_t> bytes = count_bytes(t, storage ? storage->element_bytes : 1);
    if (!bytes) return bytes.status();
    return read_external(t, folder, *bytes);
  }
  std::vector<std::byte> out;
  if (t.has_raw_data()) {
    out.resize(t.raw_data().size());
    if (!out.empty()) std::memcpy(out.data(), t.raw_data().data(), out.size());
  } else if (t.data_type() == TensorProto::FLOAT) {
    append_bytes<float>(t.float_data(), out);
  } else if (t.data_type() == TensorProto::DOUBLE) {
    append_bytes<double>(t.double_data(), out);
  } else {
    append_bytes<uint16_t>(t.int32_data(), out);
  }
  return out;
}

template <class From, class To>
std::vector<To> values_as(const std::string& raw) {
  std::vector<To> values(raw.size() / sizeof(From));
  for (size_t i = 0; i < values.size(); ++i) {
    From v;
    std::memcpy(&v, raw.data() + i * sizeof(From), sizeof(From));
    values[i] = static_cast<To>(v);
  }
  return values;
}

bool is_small(const TensorProto& t) {
  const std::optional<Storage> storage = storage_of(t);
  if (!storage || is_external(t)) return false;
  return t.has_raw_data()
             ? static_cast<int64_t>(t.raw_data().size()) <= kSmall * storage->element_bytes
             : storage->typed_count <= kSmall;
}

}  // namespace

std::optional<DType> dtype_of(int32_t onnx_type) {
  switch (onnx_type) {
    case TensorProto::FLOAT:
    case TensorProto::DOUBLE:
      return DType::kF32;
    case TensorProto::FLOAT16:
      return DType::kF16;
    case TensorProto::BFLOAT16:
      return DType::kBf16;
    default:
      return std::nullopt;
  }
}

Status check_tensor(const TensorProto& t, const std::string& folder) {
  const std::optional<Storage> storage = storage_of(t);
  Result<int64_t> bytes = count_bytes(t, storage ? storage->element_bytes : 1);
  if (!bytes) return bytes.status();
  if (!storage) return {};
  if (is_external(t)) return check_external(t, folder, *bytes);
  const int64_t elements = *bytes / storage->element_bytes;
  if (t.has_raw_data() ? static_cast<int64_t>(t.raw_data().size()) == *bytes
                       : storage->typed_count == elements) {
    return {};
  }
  return fault(
      t, fmt::format("dims {} need {} bytes, the file holds {}",
                     shape_text({t.dims().data(), static_cast<size_t>(t.dims_size())}), *bytes,
                     t.has_raw_data() ? static_cast<int64_t>(t.raw_data().size())
                                      : storage->typed_count * storage->element_bytes));
}

Result<OnnxTensor> read_tensor(const TensorProto& t, const std::string& folder) {
  const std::optional<DType> dtype = dtype_of(t.data_type());
  if (!dtype) {
    return unsupported(
        fmt::format("onnx tensor '{}': type {} is not a float type that Convoy reads; export "
                    "float, float16 or bfloat16 weights",
                    t.name(), onnx::TensorProto_DataType_Name(t.data_type())));
  }
  Result<std::vector<std::byte>> bytes = read_bytes(t, folder);
  if (!bytes) return bytes.status();
  OnnxTensor out{*dtype, {t.dims().begin(), t.dims().end()}, *std::move(bytes)};
  if (t.data_type() == TensorProto::DOUBLE) {
    const size_t n = out.bytes.size() / sizeof(double);
    for (size_t i = 0; i < n; ++i) {
      double wide;
      std::memcpy(&wide, out.bytes.data() + i * sizeof(double), sizeof(double));
      const float narrow = static_cast<float>(wide);
      std::memcpy(out.bytes.data() + i * sizeof(float), &narrow, sizeof(float));
    }
    out.bytes.resize(n * sizeof(float));
  }
  return out;
}

Result<OnnxTensor> convert(OnnxTensor from, DType to) {
  if (from.dtype == to) return from;
  const int64_t n = static_cast<int64_t>(from.bytes.size()) / size_of(from.dtype);
  OnnxTensor out{to, from.sizes, std::vector<std::byte>(static_cast<size_t>(n * size_of(to)))};
  const Status s = copy(packed(from.bytes.data(), from.dtype, std::span(&n, 1)),
                        packed(out.bytes.data(), to, std::span(&n, 1)));
  if (!s.ok()) return s;
  return out;
}

std::optional<std::vector<int64_t>> small_integers(const TensorProto& t) {
  if (!is_small(t)) return std::nullopt;
  const bool raw = t.has_raw_data();
  if (t.data_type() == TensorProto::INT64) {
    if (raw) return values_as<int64_t, int64_t>(t.raw_data());
    return std::vector<int64_t>(t.int64_data().begin(), t.int64_data().end());
  }
  if (t.data_type() == TensorProto::INT32) {
    if (raw) return values_as<int32_t, int64_t>(t.raw_data());
    return std::vector<int64_t>(t.int32_data().begin(), t.int32_data().end());
  }
  return std::nullopt;
}

std::optional<std::vector<double>> small_reals(const TensorProto& t) {
  if (!is_small(t) || t.data_type() != TensorProto::FLOAT) return std::nullopt;
  if (t.has_raw_data()) return values_as<float, double>(t.raw_data());
  return std::vector<double>(t.float_data().begin(), t.float_data().end());
}

}  // namespace convoy::cli
