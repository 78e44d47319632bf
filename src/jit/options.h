// What the environment says about run-time compilation; api fills it once.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace convoy {

struct JitOptions {
  std::string nvrtc;                  // a library or its folder; empty: search
  std::vector<std::string> toolkits;  // folders whose lib64 may hold it: CUDA_HOME, CUDA_PATH
  std::vector<std::string> pythons;   // prefixes of Python installations: $VIRTUAL_ENV, ...
  std::string cache_folder;           // empty: no disk cache
  int64_t cache_bytes = int64_t{256} << 20;
};

// Call before the first build(); later calls change the cache, not the loaded compiler.
void configure_jit(const JitOptions& options);
JitOptions jit_options();

}  // namespace convoy
