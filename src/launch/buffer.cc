// Owned device memory.
#include <convoy/device.h>

#include <cstdlib>

#include "base/str.h"

namespace convoy {

Result<Buffer> Buffer::allocate(const Device& device, size_t bytes) {
  if (device.info().id.backend != Backend::kCpu) {
    return unavailable(str("buffer: device ", device.info().name, " cannot allocate here"));
  }
  constexpr size_t kAlign = 64;
  Buffer buffer;
  void* memory = nullptr;
  if (bytes > SIZE_MAX - kAlign ||
      posix_memalign(&memory, kAlign, (bytes + kAlign) / kAlign * kAlign) != 0) {
    return unavailable(
        str("buffer: ", bytes, " bytes exceed the free memory; use a smaller problem"));
  }
  buffer.data_ = std::shared_ptr<void>(memory, std::free);
  buffer.bytes_ = bytes;
  return buffer;
}

}  // namespace convoy
