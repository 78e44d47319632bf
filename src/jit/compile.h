// Source text -> machine code of one architecture. Needs NVRTC, but no device.
#pragma once

#include <convoy/status.h>

#include <cstddef>
#include <string>
#include <vector>

#include "jit/source.h"

namespace convoy {

struct Image {
  std::vector<std::byte> cubin;
  double compile_ms = 0;
};

// Every option that reaches the compiler for `arch` ("sm_90").
std::vector<std::string> compile_options(const Source& source, const std::string& arch);

// kUnavailable where NVRTC is missing or does not know `arch`; kInternal where the text is wrong.
Result<Image> compile(const Source& source, const std::string& arch);

}  // namespace convoy
