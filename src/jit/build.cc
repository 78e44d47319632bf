// The two caches in front of the compiler.
#include "jit/build.h"

#include <iterator>
#include <mutex>
#include <utility>

#include "base/str.h"
#include "jit/compile.h"
#include "jit/key.h"
#include "jit/memory_cache.h"
#include "jit/nvrtc.h"

namespace convoy {
namespace {

// Loaded modules beyond these bounds leave the cache, the least recently used first; plans that
// use them keep them alive.
constexpr size_t kMostModules = 1024;
constexpr int64_t kMostModuleBytes = int64_t{64} << 20;  // of machine code

class Builder {
 public:
  void configure(const JitOptions& options) {
    const std::lock_guard lock(mutex_);
    options_ = options;
  }
  JitOptions options() {
    const std::lock_guard lock(mutex_);
    return options_;
  }
  BuildCounts counts() {
    const std::lock_guard lock(mutex_);
    return counts_;
  }
  DiskCache disk() {
    const JitOptions o = options();
    return {o.cache_folder, o.cache_bytes};
  }

  Result<Module> build(const Device& device, const Source& source) {
    const Result<Nvrtc> nvrtc = load_nvrtc(options());
    if (!nvrtc) return nvrtc.status();
    const std::string& arch = device.info().arch;
    const std::string key = key_of(
        {source, device_texts(), arch, compile_options(source, arch), nvrtc->major, nvrtc->minor});
    const Key slot = {device.info().id.index, key};
    if (const auto known = modules_.find(slot)) {
      count(&BuildCounts::from_memory, 0);
      return *known;
    }
    // Asked before the slot is taken: who waits for it may be another thread, free to load.
    if (capture_is_running(device)) {
      return invalid(str("plan: kernel ", source.name,
                         " is not loaded and a stream capture runs on ", device.info().name,
                         "; plan before the capture begins"));
    }
    return modules_.get(slot, [&] { return make(device, source, key); });
  }

 private:
  using Key = std::pair<int, std::string>;  // device, kernel
  using Modules = MemoryCache<Key, Module>;

  Result<Modules::Made> make(const Device& device, const Source& source, const std::string& key) {
    const DiskCache cache = disk();
    const std::string& arch = device.info().arch;
    if (const auto image = cache.load(key, arch)) {
      if (Result<Module> module = Module::load(device, *image)) {
        count(&BuildCounts::from_disk, 0);
        return Modules::Made{*std::move(module), std::ssize(*image)};
      }
    }
    const Result<Image> image = compile(source, arch);
    if (!image) return image.status();
    count(&BuildCounts::compiled, image->compile_ms);
    cache.store({key, source.name, arch}, image->cubin);
    Result<Module> module = Module::load(device, image->cubin);
    if (!module) return module.status();
    return Modules::Made{*std::move(module), std::ssize(image->cubin)};
  }

  void count(int64_t BuildCounts::* what, double compile_ms) {
    const std::lock_guard lock(mutex_);
    ++(counts_.*what);
    if (compile_ms > 0) counts_.compile_ms = compile_ms;
  }

  std::mutex mutex_;
  JitOptions options_;
  BuildCounts counts_;
  Modules modules_{kMostModules, kMostModuleBytes};
};

// Never destroyed: modules must not be unloaded after the driver has gone at exit.
Builder& builder() {
  static auto* const kBuilder = new Builder;
  return *kBuilder;
}

}  // namespace

void configure_jit(const JitOptions& options) {
  builder().configure(options);
}
JitOptions jit_options() {
  return builder().options();
}
Result<Module> build(const Device& device, const Source& source) {
  return builder().build(device, source);
}
std::vector<DiskEntry> kernels_on_disk() {
  return builder().disk().entries();
}
bool clear_kernels_on_disk() {
  return builder().disk().clear();
}
BuildCounts build_counts() {
  return builder().counts();
}

}  // namespace convoy
