// NVIDIA's run-time compiler, found and loaded when it is first asked for.
#pragma once

#include <convoy/status.h>

#include <string>
#include <vector>

#include "jit/options.h"

namespace convoy {

// The functions of libnvrtc that are used, as its header declares them; 0 is success.
struct Nvrtc {
  using Program = void*;
  int (*version)(int* major, int* minor);
  int (*arch_count)(int* count);
  int (*archs)(int* list);
  const char* (*error_string)(int result);
  int (*create)(Program* program, const char* text, const char* name, int headers,
                const char* const* header_texts, const char* const* header_names);
  int (*destroy)(Program* program);
  int (*compile)(Program program, int options, const char* const* option_texts);
  int (*log_size)(Program program, size_t* bytes);
  int (*log)(Program program, char* text);
  int (*cubin_size)(Program program, size_t* bytes);
  int (*cubin)(Program program, char* bytes);

  std::string path;  // of the library
  int major = 0, minor = 0;
  std::vector<int> supported;  // compute capabilities, rising
};

// Looks in options.nvrtc alone where that is given, else in the toolkits, the system's loader,
// /usr/local/cuda* and Python's packages.
Result<Nvrtc> load_nvrtc(const JitOptions& options);

}  // namespace convoy
