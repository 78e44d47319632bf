// Settings: the environment, read once, and the devices it allows.
#include <convoy/convoy.h>

#include <charconv>
#include <cstdlib>
#include <limits>

#include "base/str.h"
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

Result<DeviceOptions> read_environment() {
  DeviceOptions options;
  if (const char* text = std::getenv("CONVOY_CPU_ISA"); text != nullptr && *text != '\0') {
    options.isa_cap = isa_from_name(text);
    if (!options.isa_cap) {
      return invalid(str("environment: CONVOY_CPU_ISA='", text,
                         "' must be baseline, avx2, avx512, avx512bf16 or neon; unset it"));
    }
  }
  if (Status s = read_integer("CONVOY_NUM_THREADS", 1, 4096, options.threads); !s.ok()) return s;
  Status s = read_integer<int64_t>("CONVOY_INDEX_LIMIT", 2, int64_t{1} << 31, options.index_limit);
  if (!s.ok()) return s;
  return options;
}

const Result<DeviceOptions>& settings() {
  static const Result<DeviceOptions> kOnce = read_environment();
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
  return backend->open(index, *settings());
}

std::vector<Device> devices() {
  std::vector<Device> all;
  if (!settings()) return all;
  for (const BackendFunctions* backend : backends()) {
    const Result<int> count = backend->count();
    for (int i = 0; count && i < *count; ++i) {
      if (Result<Device> one = backend->open(i, *settings()); one) all.push_back(*std::move(one));
    }
  }
  return all;
}

}  // namespace convoy
