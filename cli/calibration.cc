// Reads and writes calibration files; what it cannot trust it ignores.
#include "calibration.h"

#include <convoy/convoy.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "files.h"

namespace convoy::cli {
namespace {

namespace fs = std::filesystem;

constexpr int kSchema = 2;
constexpr int64_t kMaxFileBytes = 64 << 10;
constexpr std::string_view kPrefix = "calibration-", kSuffix = ".json";

// Empty where the environment names no place.
fs::path folder() {
  const Result<CacheSettings> settings = cache_settings();
  return settings ? fs::path(settings->folder) : fs::path();
}

std::string key_of(const DeviceInfo& device) {
  if (device.id.backend != Backend::kCpu) {
    return fmt::format("{} / {} / {} multiprocessors", device.name, device.arch,
                       device.multiprocessors);
  }
  return fmt::format("{} / {} / {} threads", device.name, name(device.isa), device.threads);
}

// FNV-1a; the file holds the whole key, so a collision costs a calibration and nothing else.
fs::path file_of(const DeviceInfo& device) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : key_of(device))
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return folder() / fmt::format("{}{:016x}{}", kPrefix, hash, kSuffix);
}

// The text of a file that this user owns, if it has a plausible size.
std::optional<std::string> own_text(const fs::path& path) {
  std::error_code error;
  if (fs::is_symlink(path, error)) return std::nullopt;
  const Result<InputFile> file = InputFile::open(path.string(), "calibration");
  if (!file || file->owner() != ::geteuid() || file->size() > kMaxFileBytes) return std::nullopt;
  std::string text(static_cast<size_t>(file->size()), '\0');
  if (!file->read(0, text.data(), text.size()).ok()) return std::nullopt;
  return text;
}

// A rate or a time; a file may claim anything.
std::optional<double> rate(const Json& object, const char* key, double least) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number()) return std::nullopt;
  const double value = found->get<double>();
  if (!std::isfinite(value) || value < least) return std::nullopt;
  return value;
}

std::optional<Ceilings> ceilings_from(const Json& json) {
  if (!json.is_object()) return std::nullopt;
  Ceilings c;
  const auto copies = json.find("copy");
  if (copies == json.end() || !copies->is_array()) return std::nullopt;
  for (const Json& copy : *copies) {
    if (!copy.is_object()) return std::nullopt;
    const auto bytes = rate(copy, "bytes", 1), gbs = rate(copy, "gbs", 1e-6);
    if (!bytes || !gbs || *bytes > 0x1p60) return std::nullopt;
    const auto size = static_cast<int64_t>(*bytes);
    if (!c.copy.empty() && size <= c.copy.back().bytes) return std::nullopt;
    c.copy.push_back({size, *gbs});
  }
  const auto streaming = rate(json, "copy_streaming_gbs", 0), fma = rate(json, "fma_gflops", 1e-6);
  const auto matrix = rate(json, "matrix_gflops", 0), join = rate(json, "fork_join_us", 0);
  const auto f16 = rate(json, "matrix_f16_gflops", 0), tf32 = rate(json, "matrix_tf32_gflops", 0);
  if (c.copy.empty() || !streaming || !fma || !matrix || !f16 || !tf32 || !join) {
    return std::nullopt;
  }
  c.copy_streaming_gbs = *streaming;
  c.fma_gflops = *fma;
  c.matrix_gflops = *matrix;
  c.matrix_f16_gflops = *f16;
  c.matrix_tf32_gflops = *tf32;
  c.fork_join_us = *join;
  return c;
}

// The document of a file, if it is one of ours.
std::optional<Json> document_of(const fs::path& path) {
  const std::optional<std::string> text = own_text(path);
  if (!text) return std::nullopt;
  Json json = Json::parse(*text, nullptr, false);
  if (!json.is_object() || json.value("schema", Json()) != kSchema) return std::nullopt;
  if (!json.value("key", Json()).is_string() || !json.value("arch", Json()).is_string()) {
    return std::nullopt;
  }
  if (!ceilings_from(json.value("ceilings", Json()))) return std::nullopt;
  return json;
}

// Calibration files of this user, oldest first.
std::vector<fs::path> own_files() {
  std::vector<std::pair<fs::file_time_type, fs::path>> found;
  std::error_code error;
  for (fs::directory_iterator it(folder(), error), end; !error && it != end; it.increment(error)) {
    const std::string file = it->path().filename().string();
    if (!file.starts_with(kPrefix) || !file.ends_with(kSuffix)) continue;
    std::error_code gone;
    const fs::file_time_type time = it->last_write_time(gone);
    if (!gone && own_text(it->path())) found.emplace_back(time, it->path());
  }
  std::sort(found.begin(), found.end());
  std::vector<fs::path> paths;
  paths.reserve(found.size());
  for (auto& [time, path] : found)
    paths.push_back(std::move(path));
  return paths;
}

Status make_folder() {
  const fs::path dir = folder();
  if (dir.empty()) {
    return invalid(
        "cache: no folder: CONVOY_CACHE_DIR, XDG_CACHE_HOME and HOME are unset; set one");
  }
  std::error_code error;
  if (fs::is_directory(dir, error)) return {};
  if (dir.has_parent_path()) fs::create_directories(dir.parent_path(), error);
  if (fs::create_directory(dir, error)) {
    fs::permissions(dir, fs::perms::owner_all, error);
  }
  if (fs::is_directory(dir, error)) return {};
  return invalid(
      fmt::format("cache: folder '{}' cannot be made; set CONVOY_CACHE_DIR to a "
                  "writable folder",
                  dir.string()));
}

// Removes the oldest files other than `kept` until `bytes` more fit below the limit.
void make_room(int64_t bytes, const fs::path& kept, int64_t bound) {
  std::vector<std::pair<fs::path, int64_t>> others;
  for (const fs::path& path : own_files()) {
    std::error_code error;
    const auto size = fs::file_size(path, error);
    if (error || path == kept) continue;
    others.emplace_back(path, static_cast<int64_t>(size));
    bytes += static_cast<int64_t>(size);
  }
  for (const auto& [path, size] : others) {
    if (bytes <= bound) return;
    std::error_code error;
    fs::remove(path, error);
    bytes -= size;
  }
}

}  // namespace

std::optional<Ceilings> load_calibration(const DeviceInfo& device) {
  if (folder().empty()) return std::nullopt;
  const std::optional<Json> json = document_of(file_of(device));
  if (!json || (*json)["key"] != key_of(device)) return std::nullopt;
  return ceilings_from((*json)["ceilings"]);
}

Status store_calibration(const DeviceInfo& device, const Ceilings& ceilings) {
  const Json json = {{"schema", kSchema},
                     {"key", key_of(device)},
                     {"arch", device.arch},
                     {"ceilings", ceilings_json(ceilings)}};
  const std::string text = json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  const Result<CacheSettings> settings = cache_settings();
  if (!settings) return settings.status();
  const auto bytes = static_cast<int64_t>(text.size());
  const int64_t bound = settings->limit_bytes;
  if (bytes > bound) {
    return invalid(fmt::format(
        "cache: an entry of {} bytes exceeds CONVOY_CACHE_BYTES={}; raise it", bytes, bound));
  }
  if (Status s = make_folder(); !s.ok()) return s;
  const fs::path path = file_of(device);
  make_room(bytes, path, bound);
  return write_file(path.string(), text, "cache");
}

std::vector<CacheEntry> cache_entries() {
  std::vector<CacheEntry> entries;
  for (const fs::path& path : own_files()) {
    const std::optional<Json> json = document_of(path);
    std::error_code error;
    const auto size = fs::file_size(path, error);
    if (!json || error) continue;
    entries.push_back({path.string(), "calibration: " + (*json)["key"].get<std::string>(),
                       (*json)["arch"].get<std::string>(), static_cast<int64_t>(size)});
  }
  return entries;
}

Status clear_cache() {
  for (const fs::path& path : own_files()) {
    std::error_code error;
    fs::remove(path, error);
    if (error) {
      return invalid(
          fmt::format("cache '{}': {}; remove it by hand", path.string(), error.message()));
    }
  }
  return {};
}

Json ceilings_json(const Ceilings& ceilings) {
  Json copies = Json::array();
  for (const Ceilings::Copy& copy : ceilings.copy)
    copies.push_back({{"bytes", copy.bytes}, {"gbs", copy.gbs}});
  return {{"copy", std::move(copies)},
          {"copy_streaming_gbs", ceilings.copy_streaming_gbs},
          {"fma_gflops", ceilings.fma_gflops},
          {"matrix_gflops", ceilings.matrix_gflops},
          {"matrix_f16_gflops", ceilings.matrix_f16_gflops},
          {"matrix_tf32_gflops", ceilings.matrix_tf32_gflops},
          {"fork_join_us", ceilings.fork_join_us}};
}

}  // namespace convoy::cli
