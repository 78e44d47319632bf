// The name of a compiled kernel: a hash over every byte that reaches the compiler.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "jit/device_text.h"
#include "jit/source.h"

namespace convoy {

struct KeyParts {
  const Source& source;
  std::span<const DeviceText> texts;
  std::string arch;
  std::vector<std::string> options;
  int nvrtc_major = 0, nvrtc_minor = 0;
};

// 32 hexadecimal digits (XXH3, 128 bits). Each field goes in with its length, so that no two ways
// to cut the same bytes agree.
std::string key_of(const KeyParts& parts);

}  // namespace convoy
