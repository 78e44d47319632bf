// What is compiled into the general kernel.
#pragma once

#include "kernel/gpu/device/conv_args.h"
#include "kernel/gpu/device/elem.h"

namespace convoy {

struct GeneralConfig {
  Elem elem = Elem::kF32;
  EpilogueKind epilogue = {};
  bool channels_last = false;  // neighbouring threads walk K; otherwise Q
};

struct GeneralArgs : ConvArgs {
  bool narrow;  // every index and offset fits i32
};

inline constexpr int kGeneralThreads = 128;

}  // namespace convoy
