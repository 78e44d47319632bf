// NumPy's .npy format: versions 1 to 3, floats of 2, 4 and 8 bytes in both byte orders, C and
// Fortran order. Everything else is refused by name.
#pragma once

#include <convoy/status.h>
#include <convoy/tensor.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace convoy::cli {

struct NpyHeader {
  std::vector<int64_t> shape;  // 1 to kMaxRank axes
  int item_bytes = 4;
  bool big_endian = false;
  bool fortran = false;
  int64_t data_offset = 0;

  int64_t elements() const;
};

// The longest header that is read, with magic and length.
inline constexpr int64_t kNpyHeadBytes = 1 << 16;

// `head` holds the first min(file_bytes, kNpyHeadBytes) bytes of a file of `file_bytes`; the data
// must fill the rest of the file exactly. `name` leads every message.
Result<NpyHeader> parse_npy_header(std::string_view head, int64_t file_bytes,
                                   std::string_view name);

struct NpyArray {
  NpyHeader header;
  std::string data;
};
// Allocates nothing for the data before its size is known to be that of the file.
Result<NpyArray> read_npy(const std::string& path, std::string_view what);

// Every element, rounded once to the dtype of `to`, a view of the same shape with any strides.
void decode_npy(const NpyHeader& header, std::string_view data, const TensorView& to);

// A whole file of version 1.0 in C order: an f16 view as <f2, every other as <f4.
Result<std::string> encode_npy(const TensorView& view);

}  // namespace convoy::cli
