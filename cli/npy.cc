// The .npy header grammar and the walk between file order and strides.
// Format: numpy.lib.format (NEP 1).
#include "npy.h"

#include <convoy/convoy.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <optional>

#include "files.h"

namespace convoy::cli {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::string_view kFix = "write it with numpy.save";

template <class T>
T load(const char* from, bool big_endian) {
  char bytes[sizeof(T)];
  std::memcpy(bytes, from, sizeof(T));
  if (big_endian) std::reverse(bytes, bytes + sizeof(T));
  return std::bit_cast<T>(bytes);
}

// The Python dictionary of a header: three keys, each once, in any order.
class HeaderText {
 public:
  explicit HeaderText(std::string_view text) : rest_(text) {}

  // Nothing on success, else what is wrong.
  std::optional<std::string> parse(NpyHeader& header) {
    if (!take('{')) return "the header must be a dictionary";
    bool descr = false, order = false, shape = false;
    while (!take('}')) {
      const std::optional<std::string_view> key = string();
      if (!key || !take(':')) return "the header must hold 'key': value pairs";
      std::optional<std::string> fault;
      if (*key == "descr" && !std::exchange(descr, true)) {
        fault = parse_descr(header);
      } else if (*key == "fortran_order" && !std::exchange(order, true)) {
        fault = parse_order(header);
      } else if (*key == "shape" && !std::exchange(shape, true)) {
        fault = parse_shape(header);
      } else {
        fault = fmt::format("key '{}' is unknown or repeated", key->substr(0, 40));
      }
      if (fault) return fault;
      if (!take(',') && !rest_.starts_with('}')) return "the header must end in '}'";
    }
    if (!descr || !order || !shape) return "the header lacks descr, fortran_order or shape";
    skip();
    if (!rest_.empty()) return "the header has text behind its dictionary";
    return {};
  }

 private:
  void skip() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\n\r"), rest_.size())); }

  bool take(std::string_view word) {
    skip();
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    skip();
    return true;
  }
  bool take(char c) { return take(std::string_view(&c, 1)); }

  std::optional<std::string_view> string() {
    if (rest_.empty() || (rest_[0] != '\'' && rest_[0] != '"')) return std::nullopt;
    const size_t end = rest_.find(rest_[0], 1);
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view inside = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    skip();
    return inside;
  }

  std::optional<std::string> parse_descr(NpyHeader& header) {
    constexpr std::string_view kAccepted = "is not accepted; save it as <f2 <f4 <f8 >f2 >f4 or >f8";
    const std::optional<std::string_view> descr = string();
    if (!descr) {
      const std::string_view line = rest_.substr(0, std::min<size_t>(rest_.find('\n'), 40));
      return fmt::format("structured dtype {} {}", line, kAccepted);
    }
    const std::string_view d = *descr;
    const bool known = d.size() == 3 && (d[0] == '<' || d[0] == '>') && d[1] == 'f' &&
                       (d[2] == '2' || d[2] == '4' || d[2] == '8');
    if (!known) return fmt::format("dtype '{}' {}", d.substr(0, 40), kAccepted);
    header.big_endian = d[0] == '>';
    header.item_bytes = d[2] - '0';
    return {};
  }

  std::optional<std::string> parse_order(NpyHeader& header) {
    header.fortran = take("True");
    if (!header.fortran && !take("False")) return "fortran_order must be True or False";
    return {};
  }

  std::optional<std::string> parse_shape(NpyHeader& header) {
    constexpr const char* kRule = "shape must be a tuple of integers from 0 to 2^59";
    if (!take('(')) return kRule;
    while (!take(')')) {
      int64_t size = 0;
      const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), size);
      if (error != std::errc() || size < 0) return kRule;
      rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
      skip();
      if (header.shape.size() == kMaxRank) {
        return fmt::format("shape has more than {} axes; reshape it", kMaxRank);
      }
      header.shape.push_back(size);
      const bool comma = take(',');
      if (!comma && (header.shape.size() == 1 || !rest_.starts_with(')'))) return kRule;
    }
    if (header.shape.empty()) return "the array has no axes (shape ()); reshape it";
    // Axes of extent 0 count as 1, so that no stride over the others overflows.
    int64_t product = 1;
    for (const int64_t size : header.shape) {
      if (__builtin_mul_overflow(product, std::max<int64_t>(size, 1), &product) ||
          product > int64_t{1} << 59) {
        return fmt::format("shape {} has more than 2^59 elements; use a smaller array",
                           shape_text(header.shape));
      }
    }
    return {};
  }

  std::string_view rest_;
};

double load_value(const NpyHeader& header, const char* from) {
  if (header.item_bytes == 2) return load<Half>(from, header.big_endian).value();
  if (header.item_bytes == 4) return load<float>(from, header.big_endian);
  return load<double>(from, header.big_endian);
}

void store_value(const TensorView& to, int64_t at, double value) {
  if (to.dtype == DType::kF16) {
    static_cast<Half*>(to.data)[at] = Half::from(value);
  } else if (to.dtype == DType::kBf16) {
    static_cast<BFloat16*>(to.data)[at] = BFloat16::from(value);
  } else {
    static_cast<float*>(to.data)[at] = static_cast<float>(value);
  }
}

}  // namespace

int64_t NpyHeader::elements() const {
  int64_t product = 1;
  for (const int64_t size : shape)
    product *= size;
  return product;
}

Result<NpyHeader> parse_npy_header(std::string_view head, int64_t file_bytes,
                                   std::string_view name) {
  const auto refuse = [&](const auto& what, std::string_view fix) {
    return invalid(fmt::format("{}: {}; {}", name, what, fix));
  };
  if (!head.starts_with(kMagic)) {
    return refuse("is not a .npy file (its magic number is missing)", kFix);
  }
  if (head.size() < 10) return refuse("is truncated inside its header", kFix);
  const int major = static_cast<unsigned char>(head[6]);
  const int minor = static_cast<unsigned char>(head[7]);
  if (major < 1 || major > 3 || minor != 0) {
    return refuse(fmt::format(".npy version {}.{} is not 1.0, 2.0 or 3.0", major, minor), kFix);
  }
  const int length_bytes = major == 1 ? 2 : 4;
  const int64_t text_offset = 8 + length_bytes;
  if (static_cast<int64_t>(head.size()) < text_offset) {
    return refuse("is truncated inside its header", kFix);
  }
  int64_t length = 0;
  for (int i = length_bytes; i-- > 0;)
    length = length << 8 | static_cast<unsigned char>(head[static_cast<size_t>(i) + 8]);
  NpyHeader header{.data_offset = text_offset + length};
  if (header.data_offset > file_bytes) {
    return refuse(fmt::format("claims a header of {} bytes, past the end of the file", length),
                  kFix);
  }
  if (header.data_offset > static_cast<int64_t>(head.size())) {
    return refuse(fmt::format("has a header of {} bytes, above the limit of {}", length,
                              kNpyHeadBytes - text_offset),
                  kFix);
  }
  HeaderText text(head.substr(static_cast<size_t>(text_offset), static_cast<size_t>(length)));
  if (const std::optional<std::string> fault = text.parse(header)) {
    const bool has_fix = fault->find(';') != std::string::npos;
    return has_fix ? invalid(fmt::format("{}: {}", name, *fault)) : refuse(*fault, kFix);
  }
  const int64_t expected = header.elements() * header.item_bytes;
  const int64_t present = file_bytes - header.data_offset;
  if (present != expected) {
    return refuse(fmt::format("{}: shape {} needs {} bytes of data, the file has {}",
                              present < expected ? "is truncated" : "has trailing bytes",
                              shape_text(header.shape), expected, present),
                  kFix);
  }
  return header;
}

Result<NpyArray> read_npy(const std::string& path, std::string_view what) {
  const Result<InputFile> file = InputFile::open(path, what);
  if (!file) return file.status();
  std::string head(static_cast<size_t>(std::min(file->size(), kNpyHeadBytes)), '\0');
  if (Status s = file->read(0, head.data(), head.size()); !s.ok()) return s;
  Result<NpyHeader> header =
      parse_npy_header(head, file->size(), fmt::format("{} '{}'", what, path));
  if (!header) return header.status();
  NpyArray array{.header = *std::move(header)};
  array.data.resize(static_cast<size_t>(file->size() - array.header.data_offset));
  Status read = file->read(array.header.data_offset, array.data.data(), array.data.size());
  if (!read.ok()) return read;
  return array;
}

void decode_npy(const NpyHeader& header, std::string_view data, const TensorView& to) {
  const int rank = to.rank;
  std::array<int64_t, kMaxRank> at = {};
  int64_t offset = 0;
  const auto item = static_cast<size_t>(header.item_bytes);
  for (size_t from = 0; from < data.size(); from += item) {
    store_value(to, offset, load_value(header, data.data() + from));
    for (int i = 0; i < rank; ++i) {  // one step in file order: last axis first, or first axis
      const int axis = header.fortran ? i : rank - 1 - i;
      offset += to.strides[axis];
      if (++at[axis] < to.sizes[axis]) break;
      offset -= to.strides[axis] * to.sizes[axis];
      at[axis] = 0;
    }
  }
}

Result<std::string> encode_npy(const TensorView& view) {
  const DType stored = view.dtype == DType::kF16 ? DType::kF16 : DType::kF32;
  const std::span<const int64_t> sizes(view.sizes.data(), static_cast<size_t>(view.rank));
  std::string shape;
  for (const int64_t size : sizes)
    shape += fmt::format("{},{}", size, view.rank == 1 ? "" : " ");
  if (view.rank > 1) shape.resize(shape.size() - 2);
  std::string header = fmt::format("{{'descr': '<f{}', 'fortran_order': False, 'shape': ({}), }}",
                                   size_of(stored), shape);
  header.resize((10 + header.size() + 1 + 63) / 64 * 64 - 10, ' ');  // data at a multiple of 64
  header.back() = '\n';
  std::string file(kMagic);
  file += {'\x01', '\0', static_cast<char>(header.size() & 0xff),
           static_cast<char>(header.size() >> 8)};
  file += header;
  const size_t offset = file.size();
  file.resize(offset + static_cast<size_t>(view.elements() * size_of(stored)));
  const Status copied = copy(view, packed(file.data() + offset, stored, sizes));
  if (!copied.ok()) return copied;
  return file;
}

}  // namespace convoy::cli
