// The two caches in front of the compiler.
#include "jit/build.h"

#include <future>
#include <list>
#include <map>
#include <mutex>

#include "base/str.h"
#include "jit/compile.h"
#include "jit/key.h"
#include "jit/nvrtc.h"

namespace convoy {
namespace {

// Loaded modules beyond this many leave the cache, the least recently used first; plans that use
// them keep them alive.
constexpr size_t kMostModules = 1024;

using Shared = std::shared_future<Result<Module>>;

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
    const std::string key =
        key_of({source, device_texts(), arch, compile_options(arch), nvrtc->major, nvrtc->minor});
    std::promise<Result<Module>> promise;
    if (std::optional<Shared> known = find_or_claim({device.info().id.index, key}, promise)) {
      return known->get();
    }
    Result<Module> module = make(device, source, key);
    if (!module) forget({device.info().id.index, key});
    promise.set_value(module);
    return module;
  }

 private:
  using Key = std::pair<int, std::string>;  // device, kernel
  struct Slot {
    Shared future;
    std::list<Key>::iterator use;
  };

  // The module that is there or on its way; otherwise the caller must make it.
  std::optional<Shared> find_or_claim(const Key& key, std::promise<Result<Module>>& promise) {
    const std::lock_guard lock(mutex_);
    if (const auto found = slots_.find(key); found != slots_.end()) {
      ++counts_.from_memory;
      uses_.splice(uses_.end(), uses_, found->second.use);
      return found->second.future;
    }
    if (slots_.size() >= kMostModules) {
      slots_.erase(uses_.front());
      uses_.pop_front();
    }
    slots_[key] = {promise.get_future().share(), uses_.insert(uses_.end(), key)};
    return std::nullopt;
  }

  void forget(const Key& key) {
    const std::lock_guard lock(mutex_);
    const auto found = slots_.find(key);
    if (found == slots_.end()) return;
    uses_.erase(found->second.use);
    slots_.erase(found);
  }

  Result<Module> make(const Device& device, const Source& source, const std::string& key) {
    if (capture_is_running(device)) {
      return invalid(str("plan: kernel ", source.name,
                         " is not loaded and a stream capture runs on ", device.info().name,
                         "; plan before the capture begins"));
    }
    const DiskCache cache = disk();
    const std::string& arch = device.info().arch;
    if (const auto image = cache.load(key, arch)) {
      if (Result<Module> module = Module::load(device, *image)) {
        count(&BuildCounts::from_disk, 0);
        return module;
      }
    }
    const Result<Image> image = compile(source, arch);
    if (!image) return image.status();
    count(&BuildCounts::compiled, image->compile_ms);
    cache.store({key, source.name, arch}, image->cubin);
    return Module::load(device, image->cubin);
  }

  void count(int64_t BuildCounts::* what, double compile_ms) {
    const std::lock_guard lock(mutex_);
    ++(counts_.*what);
    if (compile_ms > 0) counts_.compile_ms = compile_ms;
  }

  std::mutex mutex_;
  JitOptions options_;
  BuildCounts counts_;
  std::map<Key, Slot> slots_;
  std::list<Key> uses_;  // least recently used first
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
