// Devices of every ISA tier that this machine can run.
#pragma once

#include <convoy/convoy.h>

#include <vector>

#include "launch/cpu/cpu_device.h"

namespace convoy::test {

inline Device cpu_of(Isa tier, int threads) {
  const Result<Device> device = open_cpu({.isa_cap = tier, .threads = threads});
  return device ? *device : Device(DeviceInfo{.name = "no such tier"});
}

// An NVIDIA GPU as its data sheet tells, for tests without one: A100, RTX 3090, RTX 4090, H200,
// B200, RTX 5090.
inline DeviceInfo described_gpu(std::string_view arch) {
  struct Sheet {
    const char* arch;
    int multiprocessors;
    int64_t shared_per_block, shared_per_multiprocessor, l2_bytes;
    double clock_mhz, copy_gbs, fma_gflops, matrix_gflops;
  };
  constexpr Sheet kSheets[] = {
      {"sm_80", 108, 163 << 10, 164 << 10, 40 << 20, 1410, 1300, 19500, 312000},
      {"sm_86", 82, 99 << 10, 100 << 10, 6 << 20, 1695, 780, 35600, 71000},
      {"sm_89", 128, 99 << 10, 100 << 10, 72 << 20, 2520, 840, 82600, 165000},
      {"sm_90", 132, 227 << 10, 228 << 10, 50 << 20, 1980, 4130, 60000, 800000},
      {"sm_100", 148, 227 << 10, 228 << 10, 126 << 20, 1965, 6500, 75000, 1800000},
      {"sm_120", 170, 99 << 10, 100 << 10, 96 << 20, 2410, 1500, 104000, 209000},
  };
  DeviceInfo info{.id = {Backend::kCuda, 0}, .name = "described", .arch = std::string(arch)};
  for (const Sheet& s : kSheets) {
    if (arch != s.arch) continue;
    info.multiprocessors = s.multiprocessors;
    info.shared_bytes_per_block = s.shared_per_block;
    info.shared_bytes_per_multiprocessor = s.shared_per_multiprocessor;
    info.l2_bytes = s.l2_bytes;
    info.clock_mhz = s.clock_mhz;
    info.memory_bytes = int64_t{16} << 30;
    info.ceilings.copy_streaming_gbs = s.copy_gbs;
    info.ceilings.fma_gflops = s.fma_gflops;
    info.ceilings.matrix_gflops = info.ceilings.matrix_f16_gflops = s.matrix_gflops;
    info.ceilings.matrix_tf32_gflops = s.matrix_gflops / 2;
    info.ceilings.fork_join_us = 1;
  }
  return info;
}

// Rising; the last is what the machine has.
inline std::vector<Isa> tiers() {
  const Result<Device> device = open_cpu({});
  return usable_tiers(device->info());
}

}  // namespace convoy::test
