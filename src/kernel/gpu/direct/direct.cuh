// The direct forward kernel: plain multiply-adds in registers, for groups of few channels.
#pragma once

#include "kernel/gpu/direct/direct_channels.cuh"
#include "kernel/gpu/direct/direct_rows.cuh"

namespace convoy {

template <DirectConfig kC>
CONVOY_DEVICE void direct(const DirectArgs& args) {
  if constexpr (kC.channels_last) {
    direct_channels<kC>(args);
  } else {
    direct_rows<kC>(args);
  }
}

}  // namespace convoy
