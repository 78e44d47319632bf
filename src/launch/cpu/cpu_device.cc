// Reads what the CPU is: model, instruction tiers, cores that affinity and cgroup leave, caches.
#include "launch/cpu/cpu_device.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>

#include "base/str.h"

namespace convoy {
namespace {

Isa native_isa() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                  __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("f16c");
  const bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
                  __builtin_cpu_supports("avx512cd");
  if (v4 && __builtin_cpu_supports("avx512bf16")) return Isa::kAvx512Bf16;
  if (v4) return Isa::kAvx512;
  return v3 ? Isa::kAvx2 : Isa::kBaseline;
#elif defined(__aarch64__)
  return Isa::kNeon;
#else
  return Isa::kBaseline;
#endif
}

// CPUs of the affinity mask, less what a cgroup v2 quota allows.
int usable_threads() {
  cpu_set_t set;
  CPU_ZERO(&set);
  int count = 1;
  if (sched_getaffinity(0, sizeof set, &set) == 0) count = std::max(1, CPU_COUNT(&set));
  std::ifstream quota_file("/sys/fs/cgroup/cpu.max");
  std::string quota;
  double period = 0;
  if (quota_file >> quota >> period && quota != "max" && period > 0) {
    std::istringstream text(quota);
    double allowed = 0;
    if (text >> allowed && allowed > 0) {
      count = std::min(count, std::max(1, static_cast<int>(std::floor(allowed / period))));
    }
  }
  return count;
}

std::string model_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.rfind("model name", 0) != 0) continue;
    const size_t start = line.find_first_not_of(" \t", line.find(':') + 1);
    if (start != std::string::npos) return line.substr(start);
  }
  return "unknown CPU";
}

int64_t cache_bytes(int which, int64_t fallback) {
  const long size = sysconf(which);
  return size > 0 ? size : fallback;
}

// Rough figures of one 2020s core, good enough to rank kernels before a calibration.
Ceilings default_ceilings(int threads, Isa isa) {
  const double scale = threads;
  const double width = isa >= Isa::kAvx512 && isa != Isa::kNeon ? 16 : isa == Isa::kAvx2 ? 8 : 4;
  Ceilings c;
  c.copy = {{24 << 10, 200 * scale},
            {1 << 20, 80 * scale},
            {16 << 20, 40 * scale},
            {256 << 20, 10 * scale}};
  c.copy_streaming_gbs = 12 * scale;
  c.fma_gflops = width * 2 * 2 * 2.5 * scale;
  c.fork_join_us = threads > 1 ? 2 : 0;
  return c;
}

}  // namespace

Result<Device> open_cpu(const DeviceOptions& options) {
  DeviceInfo info;
  info.name = model_name();
#if defined(__aarch64__)
  info.arch = "aarch64";
#else
  info.arch = "x86_64";
#endif
  info.isa = native_isa();
  if (options.isa_cap) {
    const Isa cap = *options.isa_cap;
    const bool neon = info.isa == Isa::kNeon;
    if ((cap == Isa::kNeon) != neon && cap != Isa::kBaseline) {
      return invalid(str("CONVOY_CPU_ISA: tier ", name(cap), " does not exist on ", info.arch,
                         "; choose baseline", neon ? " or neon" : ", avx2, avx512 or avx512bf16"));
    }
    info.isa = std::min(info.isa, cap);
  }
  info.threads = options.threads > 0 ? options.threads : usable_threads();
  info.memory_bytes = static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGE_SIZE);
  info.l2_bytes = cache_bytes(_SC_LEVEL2_CACHE_SIZE, 1 << 20);
  info.l3_bytes = cache_bytes(_SC_LEVEL3_CACHE_SIZE, 16 << 20);
  info.index_limit = options.index_limit;
  info.ceilings = default_ceilings(info.threads, info.isa);
  return Device(info);
}

std::vector<Isa> usable_tiers(const DeviceInfo& device) {
  if (device.isa == Isa::kNeon) return {Isa::kBaseline, Isa::kNeon};
  std::vector<Isa> tiers;
  for (int i = 0; i <= static_cast<int>(device.isa); ++i)
    tiers.push_back(static_cast<Isa>(i));
  return tiers;
}

}  // namespace convoy
