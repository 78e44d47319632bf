// Source: what the run-time compiler turns into a kernel.
#pragma once

#include <string>

namespace convoy {

struct Source {
  std::string name;   // of the kernel, for messages and the cache listing
  std::string text;   // its includes of "kernel/gpu/..." resolve to the embedded device texts
  std::string entry;  // extern "C" function in it
  // Uses instructions that one architecture alone has (wgmma of sm_90): compiled for "sm_90a".
  bool arch_specific = false;
  // What its machine code must hold, which tests check.
  bool matrix = false, async_copies = false;
};

}  // namespace convoy
