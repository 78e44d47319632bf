// Owned device memory.
#include <convoy/device.h>

#include "launch/backend.h"

namespace convoy {

Result<Buffer> Buffer::allocate(const Device& device, size_t bytes) {
  const auto functions = backend_functions(device.info().id.backend);
  if (!functions) return functions.status();
  auto memory = (*functions)->allocate(device.info().id.index, bytes);
  if (!memory) return memory.status();
  Buffer buffer;
  buffer.data_ = *std::move(memory);
  buffer.bytes_ = bytes;
  return buffer;
}

}  // namespace convoy
