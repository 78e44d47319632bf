// Tensor values that lie in files beside the model, never outside its folder.
#include "onnx/external_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <optional>

namespace convoy::cli {
namespace {

namespace fs = std::filesystem;

struct Place {
  fs::path path;
  int64_t offset = 0;
};

Status fault(const onnx::TensorProto& t, const std::string& what) {
  return invalid(
      fmt::format("onnx tensor '{}': external data: {}; keep the data file beside the "
                  "model, as it was exported",
                  t.name(), what));
}

std::optional<int64_t> whole_number(const std::string& text) {
  int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || at != end || value < 0) return std::nullopt;
  return value;
}

// The file behind `location`, once it is known to lie inside the folder.
Result<fs::path> inside(const onnx::TensorProto& t, const std::string& folder,
                        const std::string& location) {
  const fs::path relative(location);
  const bool climbs =
      std::any_of(relative.begin(), relative.end(), [](const fs::path& p) { return p == ".."; });
  if (location.empty() || relative.is_absolute() || climbs ||
      location.find('\0') != std::string::npos) {
    return fault(t,
                 fmt::format("location '{}' must be a path inside the model's folder", location));
  }
  std::error_code error;
  const fs::path base = fs::canonical(folder.empty() ? "." : folder, error);
  if (error) return fault(t, fmt::format("folder '{}': {}", folder, error.message()));
  const fs::path path = fs::canonical(base / relative, error);
  if (error) return fault(t, fmt::format("location '{}': {}", location, error.message()));
  if (std::mismatch(base.begin(), base.end(), path.begin(), path.end()).first != base.end()) {
    return fault(t, fmt::format("location '{}' leads out of the model's folder", location));
  }
  if (!fs::is_regular_file(path, error)) {
    return fault(t, fmt::format("location '{}' must be a regular file", location));
  }
  return path;
}

Result<Place> place_of(const onnx::TensorProto& t, const std::string& folder, int64_t bytes) {
  std::string location;
  Place place;
  for (const auto& entry : t.external_data()) {
    if (entry.key() == "location") location = entry.value();
    if (entry.key() != "offset" && entry.key() != "length") continue;
    const std::optional<int64_t> value = whole_number(entry.value());
    if (!value) {
      return fault(t, fmt::format("{} '{}' must be a whole number", entry.key(), entry.value()));
    }
    if (entry.key() == "offset") place.offset = *value;
    if (entry.key() == "length" && *value != bytes) {
      return fault(t,
                   fmt::format("length {} must be the {} bytes that the dims need", *value, bytes));
    }
  }
  Result<fs::path> path = inside(t, folder, location);
  if (!path) return path.status();
  place.path = *std::move(path);
  std::error_code error;
  const auto size = static_cast<int64_t>(fs::file_size(place.path, error));
  if (error || place.offset > size || bytes > size - place.offset) {
    return fault(t, fmt::format("{} bytes at offset {} exceed the file '{}'", bytes, place.offset,
                                location));
  }
  return place;
}

}  // namespace

Status check_external(const onnx::TensorProto& t, const std::string& folder, int64_t bytes) {
  return place_of(t, folder, bytes).status();
}

Result<std::vector<std::byte>> read_external(const onnx::TensorProto& t, const std::string& folder,
                                             int64_t bytes) {
  Result<Place> place = place_of(t, folder, bytes);
  if (!place) return place.status();
  std::ifstream file(place->path, std::ios::binary);
  file.seekg(place->offset);
  std::vector<std::byte> out(static_cast<size_t>(bytes));
  file.read(reinterpret_cast<char*>(out.data()), bytes);
  if (!file) return fault(t, fmt::format("'{}' cannot be read", place->path.string()));
  return out;
}

}  // namespace convoy::cli
