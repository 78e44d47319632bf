// Element types of tensors on a device: how each is stored, widened to f32 and rounded back.
#pragma once

#include "kernel/gpu/device/elem.h"
#include "kernel/gpu/device/lang.h"

namespace convoy {

// Tags of multiply_add(); `Storage` is the type in memory, kMmaDepth the k of one matrix step.
struct F32 {
  using Storage = float;
  static CONVOY_DEVICE float widen(float v) { return v; }
  static CONVOY_DEVICE float round(float v) { return v; }
};
struct Tf32 : F32 {
  static constexpr int kMmaDepth = 8;
};
struct F16 {
  using Storage = u16;
  static constexpr int kMmaDepth = 16;
  static CONVOY_DEVICE float widen(u16 bits) { return f16_to_f32(bits); }
  static CONVOY_DEVICE u16 round(float v) { return static_cast<u16>(f32_to_f16x2(v, 0.0F)); }
  static CONVOY_DEVICE u32 round2(float lo, float hi) { return f32_to_f16x2(lo, hi); }
};
struct Bf16 {
  using Storage = u16;
  static constexpr int kMmaDepth = 16;
  static CONVOY_DEVICE float widen(u16 bits) { return f32_from_bits(static_cast<u32>(bits) << 16); }
  static CONVOY_DEVICE u16 round(float v) { return static_cast<u16>(f32_to_bf16x2(v, 0.0F)); }
  static CONVOY_DEVICE u32 round2(float lo, float hi) { return f32_to_bf16x2(lo, hi); }
};

template <Elem kElem>
struct ElementOf;
template <>
struct ElementOf<Elem::kF32> {
  using type = F32;
};
template <>
struct ElementOf<Elem::kTf32> {
  using type = Tf32;
};
template <>
struct ElementOf<Elem::kF16> {
  using type = F16;
};
template <>
struct ElementOf<Elem::kBf16> {
  using type = Bf16;
};
template <Elem kElem>
using Element = typename ElementOf<kElem>::type;
template <Elem kElem>
using Storage = typename Element<kElem>::Storage;

}  // namespace convoy
