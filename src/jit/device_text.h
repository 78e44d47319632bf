// The texts that device kernels include, embedded at build time.
#pragma once

#include <span>
#include <string_view>

namespace convoy {

struct DeviceText {
  std::string_view path, text;  // "kernel/gpu/device/lang.h"
};
std::span<const DeviceText> device_texts();

}  // namespace convoy
