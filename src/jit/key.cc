// Hashes the parts of a key.
#include "jit/key.h"

#include <xxhash.h>

#include <memory>

namespace convoy {
namespace {

struct FreeState {
  void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
};

class Hash {
 public:
  Hash() : state_(XXH3_createState()) { XXH3_128bits_reset(state_.get()); }

  void add(std::string_view field) {
    const uint64_t length = field.size();
    XXH3_128bits_update(state_.get(), &length, sizeof length);
    XXH3_128bits_update(state_.get(), field.data(), field.size());
  }
  void add(int number) { add(std::to_string(number)); }

  std::string hex() const {
    XXH128_canonical_t bytes;
    XXH128_canonicalFromHash(&bytes, XXH3_128bits_digest(state_.get()));
    std::string text;
    for (const unsigned char byte : bytes.digest) {
      text += "0123456789abcdef"[byte / 16];
      text += "0123456789abcdef"[byte % 16];
    }
    return text;
  }

 private:
  std::unique_ptr<XXH3_state_t, FreeState> state_;
};

}  // namespace

std::string key_of(const KeyParts& parts) {
  Hash hash;
  hash.add("convoy kernel 1");
  hash.add(parts.source.text);
  hash.add(parts.source.entry);
  hash.add(static_cast<int>(parts.texts.size()));
  for (const DeviceText& text : parts.texts) {
    hash.add(text.path);
    hash.add(text.text);
  }
  hash.add(parts.arch);
  hash.add(static_cast<int>(parts.options.size()));
  for (const std::string& option : parts.options)
    hash.add(option);
  hash.add(parts.nvrtc_major);
  hash.add(parts.nvrtc_minor);
  return hash.hex();
}

}  // namespace convoy
