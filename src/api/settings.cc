// Settings: the environment, read once, and the devices it allows.
#include <convoy/convoy.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <limits>

#include "base/str.h"
#include "jit/build.h"
#include "jit/options.h"
#include "launch/backend.h"

namespace convoy {
namespace {

// All of `text` as an integer.
template <class Int>
std::optional<Int> integer(std::string_view text) {
  Int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Sets `value` from an environment variable that is there and not empty.
template <class Int>
Status read_integer(const char* variable, Int least, Int most, Int& value) {
  const char* text = std::getenv(variable);
  if (text == nullptr || *text == '\0') return {};
  const std::optional<Int> number = integer<Int>(text);
  if (!number || *number < least || *number > most) {
    return invalid(str("environment: ", variable, "='", text, "' must be an integer from ", least,
                       " to ", most, "; unset it"));
  }
  value = *number;
  return {};
}

struct Settings {
  DeviceOptions devices;
  JitOptions jit;
};

std::string variable(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? "" : text;
}

// Empty where the environment names no place.
std::string cache_folder() {
  if (const std::string folder = variable("CONVOY_CACHE_DIR"); !folder.empty()) return folder;
  // A relative XDG path is to be ignored (XDG Base Directory Specification 0.8).
  if (const std::string xdg = variable("XDG_CACHE_HOME"); xdg.starts_with('/')) {
    return xdg + "/convoy";
  }
  if (const std::string home = variable("HOME"); !home.empty()) return home + "/.cache/convoy";
  return {};
}

// Prefixes of Python installations: an active environment, that of `python3`, the user's, the
// system's.
std::vector<std::string> python_prefixes() {
  std::vector<std::string> prefixes;
  if (const std::string active = variable("VIRTUAL_ENV"); !active.empty()) {
    prefixes.push_back(active);
  }
  const std::string path = variable("PATH");
  for (size_t begin = 0; begin < path.size();) {
    const size_t end = std::min(path.find(':', begin), path.size());
    const std::string folder = path.substr(begin, end - begin);
    if (::access((folder + "/python3").c_str(), X_OK) == 0) {
      prefixes.push_back(folder + "/..");
      break;
    }
    begin = end + 1;
  }
  if (const std::string home = variable("HOME"); !home.empty())
    prefixes.push_back(home + "/.local");
  prefixes.insert(prefixes.end(), {"/usr/local", "/usr"});
  return prefixes;
}

Result<Settings> read_environment() {
  Settings settings;
  DeviceOptions& devices = settings.devices;
  if (const std::string text = variable("CONVOY_CPU_ISA"); !text.empty()) {
    devices.isa_cap = isa_from_name(text);
    if (!devices.isa_cap) {
      return invalid(str("environment: CONVOY_CPU_ISA='", text,
                         "' must be baseline, avx2, avx512, avx512bf16 or neon; unset it"));
    }
  }
  Status s = read_integer("CONVOY_NUM_THREADS", 1, 4096, devices.threads);
  if (s.ok()) {
    s = read_integer<int64_t>("CONVOY_INDEX_LIMIT", 2, int64_t{1} << 31, devices.index_limit);
  }
  JitOptions& jit = settings.jit;
  if (s.ok()) {
    s = read_integer<int64_t>("CONVOY_CACHE_BYTES", 0, std::numeric_limits<int64_t>::max(),
                              jit.cache_bytes);
  }
  if (!s.ok()) return s;
  jit.nvrtc = variable("CONVOY_NVRTC");
  for (const char* name : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const std::string toolkit = variable(name); !toolkit.empty()) {
      jit.toolkits.push_back(toolkit);
    }
  }
  jit.pythons = python_prefixes();
  jit.cache_folder = cache_folder();
  configure_jit(jit);
  return settings;
}

const Result<Settings>& settings() {
  static const Result<Settings> kOnce = read_environment();
  return kOnce;
}

Status bad_name(std::string_view name) {
  return invalid(str("device: '", name, "' must be cpu, cuda[:i] or hip[:i]; use cpu"));
}

}  // namespace

Result<Device> device(std::string_view name) {
  const size_t colon = name.find(':');
  const std::string_view word = name.substr(0, colon);
  const bool has_index = colon != std::string_view::npos;
  int index = 0;
  if ((word != "cpu" && word != "cuda" && word != "hip") || (has_index && word == "cpu")) {
    return bad_name(name);
  }
  if (has_index) {
    const std::string_view digits = name.substr(colon + 1);
    const std::optional<int> number = integer<int>(digits);
    if (!number || *number < 0 || digits.front() == '-') {
      return invalid(str("device: '", name, "' must end in an index from 0 to ",
                         std::numeric_limits<int>::max(), "; use ", word, ":0"));
    }
    index = *number;
  }
  if (!settings()) return settings().status();
  const BackendFunctions* backend = backend_named(word);
  if (backend == nullptr) {
    return unavailable(str("device: ", name, " needs the ", word,
                           " backend, which this build does not have; use --device cpu"));
  }
  return backend->open(index, settings()->devices);
}

Result<CacheSettings> cache_settings() {
  if (!settings()) return settings().status();
  return CacheSettings{settings()->jit.cache_folder, settings()->jit.cache_bytes};
}

std::vector<CachedKernel> cached_kernels() {
  std::vector<CachedKernel> kernels;
  if (!settings()) return kernels;
  for (const DiskEntry& entry : kernels_on_disk())
    kernels.push_back({entry.key, entry.kernel, entry.arch, entry.bytes});
  return kernels;
}

Status clear_cached_kernels() {
  if (!settings()) return settings().status();
  if (clear_kernels_on_disk()) return {};
  return invalid(str("cache '", settings()->jit.cache_folder,
                     "': an entry cannot be removed; remove the folder by hand"));
}

std::vector<Device> devices() {
  std::vector<Device> all;
  if (!settings()) return all;
  for (const BackendFunctions* backend : backends()) {
    const Result<int> count = backend->count();
    for (int i = 0; count && i < *count; ++i) {
      if (Result<Device> one = backend->open(i, settings()->devices); one)
        all.push_back(*std::move(one));
    }
  }
  return all;
}

}  // namespace convoy
