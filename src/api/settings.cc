// Settings: the environment, read once, and the devices it allows.
#include <convoy/convoy.h>

#include <charconv>
#include <cstdlib>

#include "base/str.h"
#include "launch/cpu/cpu_device.h"

namespace convoy {
namespace {

Result<CpuOptions> read_environment() {
  CpuOptions options;
  if (const char* text = std::getenv("CONVOY_CPU_ISA"); text != nullptr && *text != '\0') {
    options.isa_cap = isa_from_name(text);
    if (!options.isa_cap) {
      return invalid(str("environment: CONVOY_CPU_ISA='", text,
                         "' must be baseline, avx2, avx512, avx512bf16 or neon; unset it"));
    }
  }
  if (const char* text = std::getenv("CONVOY_NUM_THREADS"); text != nullptr && *text != '\0') {
    const std::string_view digits = text;
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), options.threads);
    if (error != std::errc() || end != digits.data() + digits.size() || options.threads < 1 ||
        options.threads > 4096) {
      return invalid(str("environment: CONVOY_NUM_THREADS='", text,
                         "' must be an integer from 1 to 4096; unset it"));
    }
  }
  return options;
}

const Result<CpuOptions>& settings() {
  static const Result<CpuOptions> kOnce = read_environment();
  return kOnce;
}

}  // namespace

Result<Device> device(std::string_view name) {
  const std::string_view backend = name.substr(0, name.find(':'));
  if (backend == "cuda" || backend == "hip") {
    return unavailable(str("device: ", name, " needs the ", backend,
                           " backend, which this build does not have; use --device cpu"));
  }
  if (name != "cpu") {
    return invalid(str("device: '", name, "' must be cpu, cuda[:i] or hip[:i]; use cpu"));
  }
  if (!settings()) return settings().status();
  return open_cpu(*settings());
}

std::vector<Device> devices() {
  std::vector<Device> all;
  if (Result<Device> cpu = device("cpu"); cpu) all.push_back(*cpu);
  return all;
}

}  // namespace convoy
