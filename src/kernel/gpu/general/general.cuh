// The general forward kernel: any problem, any strides, 64-bit offsets, a thread an output.
#pragma once

#include "kernel/gpu/device/exact.h"
#include "kernel/gpu/general/general_config.h"

namespace convoy {

template <GeneralConfig kConfig>
CONVOY_DEVICE void general(const ConvArgs& args) {
  const IgemmSizes& s = args.sizes;
  const i64 total = s.N * s.K * s.out[0] * s.out[1] * s.out[2];
  const i64 step = static_cast<i64>(kGeneralThreads) * block_count();
  for (i64 i = static_cast<i64>(block_index()) * kGeneralThreads + thread_index(); i < total;
       i += step) {
    i64 rest = i;
    OutputIndex at{};
    if (kConfig.channels_last) {
      at.k = rest % s.K;
      rest /= s.K;
    }
    at.q = rest % s.out[2];
    rest /= s.out[2];
    at.p = rest % s.out[1];
    rest /= s.out[1];
    at.z = rest % s.out[0];
    rest /= s.out[0];
    if (!kConfig.channels_last) {
      at.k = rest % s.K;
      rest /= s.K;
    }
    at.n = rest;
    store_exact<kConfig.elem, kConfig.epilogue.bias, kConfig.epilogue.act>(args, at);
  }
}

}  // namespace convoy
