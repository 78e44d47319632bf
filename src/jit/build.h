// Source -> code on a device, compiled once: from memory, else from disk, else by the compiler.
#pragma once

#include <convoy/device.h>

#include <vector>

#include "jit/disk_cache.h"
#include "jit/options.h"
#include "jit/source.h"
#include "launch/module.h"

namespace convoy {

// Threads that ask for one source at once wait for one compilation; other sources go on meanwhile.
// kInvalid while a stream capture runs on the device and the code is not in memory yet.
Result<Module> build(const Device& device, const Source& source);

// What the disk holds, least recently used first; and its removal.
std::vector<DiskEntry> kernels_on_disk();
bool clear_kernels_on_disk();

struct BuildCounts {
  int64_t from_memory = 0, from_disk = 0, compiled = 0;
  double compile_ms = 0;  // of the last compilation
};
BuildCounts build_counts();

}  // namespace convoy
