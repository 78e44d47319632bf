// Runs the run-time compiler.
#include "jit/compile.h"

#include <algorithm>
#include <charconv>

#include "base/str.h"
#include "jit/device_text.h"
#include "jit/nvrtc.h"
#include "launch/timer.h"

namespace convoy {
namespace {

Status unknown_arch(const std::string& arch, const Nvrtc& nvrtc) {
  return unavailable(str("jit: NVRTC ", nvrtc.major, ".", nvrtc.minor, " (", nvrtc.path,
                         ") does not compile for ", arch, ", its newest is sm_",
                         nvrtc.supported.back(), "; install a newer one"));
}

bool supports(const Nvrtc& nvrtc, const std::string& arch) {
  constexpr std::string_view kPrefix = "sm_";
  if (arch.rfind(kPrefix, 0) != 0) return false;
  int capability = 0;
  std::from_chars(arch.data() + kPrefix.size(), arch.data() + arch.size(), capability);
  return std::count(nvrtc.supported.begin(), nvrtc.supported.end(), capability) != 0;
}

// The log up to its first error and the lines about it.
std::string log_of(const Nvrtc& nvrtc, Nvrtc::Program program) {
  size_t bytes = 0;
  if (nvrtc.log_size(program, &bytes) != 0 || bytes <= 1) return "no log";
  std::string log(bytes, '\0');
  nvrtc.log(program, log.data());
  log.resize(std::min<size_t>(log.find('\0'), 600));
  std::replace(log.begin(), log.end(), '\n', ' ');
  return log;
}

// One program; destroyed with the object.
class Compilation {
 public:
  explicit Compilation(const Nvrtc& nvrtc) : nvrtc_(nvrtc) {}
  Compilation(const Compilation&) = delete;
  Compilation& operator=(const Compilation&) = delete;
  ~Compilation() {
    if (program_ != nullptr) nvrtc_.destroy(&program_);
  }

  Status create(const Source& source) {
    std::vector<const char*> texts, names;
    std::vector<std::string> owned;
    owned.reserve(2 * device_texts().size());
    for (const DeviceText& text : device_texts()) {
      texts.push_back(owned.emplace_back(text.text).c_str());
      names.push_back(owned.emplace_back(text.path).c_str());
    }
    const int result = nvrtc_.create(&program_, source.text.c_str(), (source.name + ".cu").c_str(),
                                     static_cast<int>(texts.size()), texts.data(), names.data());
    return status_of(result, source.name);
  }

  Status run(const Source& source, const std::vector<std::string>& options) {
    std::vector<const char*> list;
    list.reserve(options.size());
    for (const std::string& option : options)
      list.push_back(option.c_str());
    const int result = nvrtc_.compile(program_, static_cast<int>(list.size()), list.data());
    if (result == 0) return {};
    return internal(str("jit: ", source.name, " does not compile (", nvrtc_.error_string(result),
                        "): ", log_of(nvrtc_, program_)));
  }

  Result<std::vector<std::byte>> cubin(const Source& source) {
    size_t bytes = 0;
    if (Status s = status_of(nvrtc_.cubin_size(program_, &bytes), source.name); !s.ok()) return s;
    std::vector<std::byte> image(bytes);
    const int result = nvrtc_.cubin(program_, reinterpret_cast<char*>(image.data()));
    if (Status s = status_of(result, source.name); !s.ok()) return s;
    return image;
  }

 private:
  Status status_of(int result, const std::string& name) const {
    if (result == 0) return {};
    return internal(str("jit: ", name, ": NVRTC fails with ", nvrtc_.error_string(result)));
  }

  const Nvrtc& nvrtc_;
  Nvrtc::Program program_ = nullptr;
};

}  // namespace

// No contraction: every multiply-add that is fused says so.
std::vector<std::string> compile_options(const Source& source, const std::string& arch) {
  return {"--gpu-architecture=" + arch + (source.arch_specific ? "a" : ""), "-std=c++20",
          "-fmad=false", "-default-device"};
}

Result<Image> compile(const Source& source, const std::string& arch) {
  const Result<Nvrtc> nvrtc = load_nvrtc(jit_options());
  if (!nvrtc) return nvrtc.status();
  if (!supports(*nvrtc, arch)) return unknown_arch(arch, *nvrtc);
  const double start = now_us();
  Compilation compilation(*nvrtc);
  if (Status s = compilation.create(source); !s.ok()) return s;
  if (Status s = compilation.run(source, compile_options(source, arch)); !s.ok()) return s;
  Result<std::vector<std::byte>> cubin = compilation.cubin(source);
  if (!cubin) return cubin.status();
  return Image{*std::move(cubin), (now_us() - start) / 1e3};
}

}  // namespace convoy
