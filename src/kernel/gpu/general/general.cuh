// The general forward kernel: any problem, any strides, a thread an output.
#pragma once

#include "kernel/gpu/device/exact.h"
#include "kernel/gpu/general/general_config.h"

namespace convoy {

template <GeneralConfig kConfig, class Index>
CONVOY_DEVICE void general_output(const GeneralArgs& args, Index rest) {
  const IgemmSizes& s = args.sizes;
  const auto take = [&rest](i64 extent) {
    const Index whole = rest / static_cast<Index>(extent);
    const Index part = rest - whole * static_cast<Index>(extent);
    rest = whole;
    return part;
  };
  OutputPlace<Index> at{};
  if (kConfig.channels_last) at.k = take(s.K);
  at.q = take(s.out[2]);
  at.p = take(s.out[1]);
  at.z = take(s.out[0]);
  if (!kConfig.channels_last) at.k = take(s.K);
  at.n = rest;
  store_exact<kConfig.elem, kConfig.epilogue.bias, kConfig.epilogue.act, Index>(args, at);
}

// The strides are known at the launch only, so both widths of offsets are compiled in.
template <GeneralConfig kConfig>
CONVOY_DEVICE void general(const GeneralArgs& args) {
  const IgemmSizes& s = args.sizes;
  const i64 total = s.N * s.K * s.out[0] * s.out[1] * s.out[2];
  const i64 step = static_cast<i64>(kGeneralThreads) * block_count();
  CONVOY_NO_UNROLL
  for (i64 i = static_cast<i64>(block_index()) * kGeneralThreads + thread_index(); i < total;
       i += step) {
    if (args.narrow) {
      general_output<kConfig>(args, static_cast<i32>(i));
    } else {
      general_output<kConfig>(args, i);
    }
  }
}

}  // namespace convoy
