// Finds and loads libnvrtc.
#include "jit/nvrtc.h"

#include <dlfcn.h>

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <optional>

#include "base/str.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFileNames[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"};

// Children of `folder` whose name starts with `prefix`, the last in order first.
std::vector<std::string> children(const std::string& folder, const std::string& prefix) {
  std::vector<std::string> found;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().filename().string().rfind(prefix, 0) == 0)
      found.push_back(entry.path().string());
  }
  std::sort(found.rbegin(), found.rend());
  return found;
}

// Folders that may hold the library, best first.
std::vector<std::string> folders(const JitOptions& options) {
  std::vector<std::string> all;
  for (const std::string& toolkit : options.toolkits)
    all.insert(all.end(), {toolkit + "/lib64", toolkit + "/lib", toolkit});
  all.emplace_back("");  // the loader's own search
  for (const std::string& toolkit : children("/usr/local", "cuda"))
    all.push_back(toolkit + "/lib64");
  for (const std::string& prefix : options.pythons) {
    for (const std::string& version : children(prefix + "/lib", "python3")) {
      for (const char* packages : {"/site-packages", "/dist-packages"}) {
        all.push_back(version + packages + "/nvidia/cu13/lib");
        all.push_back(version + packages + "/nvidia/cuda_nvrtc/lib");
      }
    }
  }
  return all;
}

void* open_in(const std::string& folder, std::string& path) {
  for (const char* file : kFileNames) {
    path = folder.empty() ? file : folder + "/" + file;
    if (void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
  }
  return nullptr;
}

void* open_library(const JitOptions& options, std::string& path) {
  if (!options.nvrtc.empty()) {
    path = options.nvrtc;
    std::error_code error;
    if (fs::is_directory(path, error)) return open_in(options.nvrtc, path);
    return dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  }
  for (const std::string& folder : folders(options)) {
    if (void* library = open_in(folder, path)) return library;
  }
  return nullptr;
}

Status not_found(const JitOptions& options) {
  if (!options.nvrtc.empty()) {
    const char* why = dlerror();
    return unavailable(str("jit: CONVOY_NVRTC='", options.nvrtc, "' cannot be loaded (",
                           why != nullptr ? why : "no libnvrtc in that folder",
                           "); name libnvrtc.so or its folder"));
  }
  return unavailable(
      "jit: libnvrtc.so.13 is not in CUDA_HOME, the system's libraries, /usr/local/cuda or "
      "Python's "
      "packages; install CUDA 13.0 or `pip install nvidia-cuda-nvrtc==13.0.*`, or set "
      "CONVOY_NVRTC");
}

template <class Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

bool find_all(void* library, Nvrtc& n) {
  return find(library, "nvrtcVersion", n.version) &&
         find(library, "nvrtcGetNumSupportedArchs", n.arch_count) &&
         find(library, "nvrtcGetSupportedArchs", n.archs) &&
         find(library, "nvrtcGetErrorString", n.error_string) &&
         find(library, "nvrtcCreateProgram", n.create) &&
         find(library, "nvrtcDestroyProgram", n.destroy) &&
         find(library, "nvrtcCompileProgram", n.compile) &&
         find(library, "nvrtcGetProgramLogSize", n.log_size) &&
         find(library, "nvrtcGetProgramLog", n.log) &&
         find(library, "nvrtcGetCUBINSize", n.cubin_size) &&
         find(library, "nvrtcGetCUBIN", n.cubin);
}

Result<Nvrtc> load(const JitOptions& options) {
  Nvrtc nvrtc;
  void* library = open_library(options, nvrtc.path);
  if (library == nullptr) return not_found(options);
  int count = 0;
  const bool works = find_all(library, nvrtc) && nvrtc.version(&nvrtc.major, &nvrtc.minor) == 0 &&
                     nvrtc.arch_count(&count) == 0 && count > 0;
  if (!works || nvrtc.major < 12) {
    return unavailable(str("jit: ", nvrtc.path, " is NVRTC ", nvrtc.major, ".", nvrtc.minor,
                           ", at least 12.0 is needed; install CUDA 13.0 or set CONVOY_NVRTC"));
  }
  nvrtc.supported.resize(static_cast<size_t>(count));
  nvrtc.archs(nvrtc.supported.data());
  return nvrtc;
}

}  // namespace

// A search that succeeds is not made again while the same library is asked for.
Result<Nvrtc> load_nvrtc(const JitOptions& options) {
  static std::mutex mutex;
  static std::optional<Nvrtc> loaded;
  static std::string asked;
  const std::lock_guard lock(mutex);
  if (loaded && options.nvrtc == asked) return *loaded;
  Result<Nvrtc> found = load(options);
  if (!found) return found;
  loaded = *found;
  asked = options.nvrtc;
  return found;
}

}  // namespace convoy
