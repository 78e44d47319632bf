// Every operation of simd.h against its scalar definition, in the tier of the including file.
#pragma once

#include <convoy/dtype.h>

#include <cstdio>
#include <limits>

#include "kernel/cpu/simd/epilogue.h"
#include "kernel/cpu/simd/simd_checks.h"

namespace convoy::test {
namespace {

// Plain fields: a tier file may not call shared inline functions before it knows that it may run.
struct Fault {
  char text[120] = {};
  bool any = false;
  void set(const char* what, double got, double want) {
    if (!any) std::snprintf(text, sizeof text, "%s gives %.9g, expected %.9g", what, got, want);
    any = true;
  }
};

inline bool same_bits(float a, float b) {
  return (a != a && b != b) || f32_to_bits(a) == f32_to_bits(b);
}

template <class F, class G>
void check_lanes(Fault& fault, const char* what, const F& vector, const G& scalar) {
  const float inf = std::numeric_limits<float>::infinity(), nan = -(inf - inf);
  const float some[] = {0.0F, -0.0F, 1.0F, -2.5F, 6.5F, 1e-40F, -3e38F, inf, -inf, nan, 0.5F};
  constexpr int kSome = static_cast<int>(sizeof some / sizeof *some);
  for (int i = 0; i < kSome * kSome; ++i) {
    float a[kLanes], b[kLanes], out[kLanes];
    for (int l = 0; l < kLanes; ++l) {
      a[l] = some[(i + l) % kSome];
      b[l] = some[(i / kSome + 3 * l) % kSome];
    }
    store(out, vector(load(a), load(b)));
    for (int l = 0; l < kLanes; ++l) {
      const float want = scalar(a[l], b[l], l);
      if (!same_bits(out[l], want)) fault.set(what, out[l], want);
    }
  }
}

inline void check_arithmetic(Fault& f) {
  check_lanes(
      f, "add", [](Vec a, Vec b) { return add(a, b); },
      [](float a, float b, int) { return a + b; });
  check_lanes(
      f, "sub", [](Vec a, Vec b) { return sub(a, b); },
      [](float a, float b, int) { return a - b; });
  check_lanes(
      f, "mul", [](Vec a, Vec b) { return mul(a, b); },
      [](float a, float b, int) { return a * b; });
  check_lanes(
      f, "div", [](Vec a, Vec b) { return div(a, b); },
      [](float a, float b, int) { return a / b; });
  check_lanes(
      f, "max", [](Vec a, Vec b) { return max(a, b); },
      [](float a, float b, int) { return a > b ? a : b; });
  check_lanes(
      f, "min", [](Vec a, Vec b) { return min(a, b); },
      [](float a, float b, int) { return a < b ? a : b; });
  check_lanes(
      f, "select of less", [](Vec a, Vec b) { return select(less(a, b), set1(1.0F), zero()); },
      [](float a, float b, int) { return a < b ? 1.0F : 0.0F; });
  check_lanes(
      f, "select of equal", [](Vec a, Vec b) { return select(equal(a, b), set1(1.0F), zero()); },
      [](float a, float b, int) { return a == b ? 1.0F : 0.0F; });
  for (Mask m = 0; m < 1U << kLanes; m += kLanes == 16 ? 37 : 1) {
    // A clear lane keeps c although the product is NaN.
    check_lanes(
        f, "masked fma", [m](Vec a, Vec) { return fma(m, set1(HUGE_VALF), zero(), a); },
        [m](float a, float, int l) { return (m >> l & 1U) != 0 ? NAN : a; });
  }
  check_lanes(
      f, "fma", [](Vec, Vec) { return fma(set1(3.0F), set1(0.5F), set1(-1.0F)); },
      [](float, float, int) { return 0.5F; });
}

inline void check_permutes(Fault& f) {
  float values[2 * kLanes], out[kLanes];
  int32_t index[kLanes];
  for (int i = 0; i < 2 * kLanes; ++i)
    values[i] = static_cast<float>(i);
  for (int i = 0; i < kLanes; ++i)
    index[i] = (5 * i + 3) % kLanes;
  store(out, permute(load(values), load_index(index)));
  for (int i = 0; i < kLanes; ++i) {
    if (out[i] != values[index[i]]) f.set("permute", out[i], values[index[i]]);
  }
  store(out, even_lanes(load(values), load(values + kLanes)));
  for (int i = 0; i < kLanes; ++i) {
    if (out[i] != values[2 * i]) f.set("even_lanes", out[i], values[2 * i]);
  }
  for (int n = -126; n <= 127; ++n) {
    store(out, exp2_integral(set1(static_cast<float>(n))));
    if (out[kLanes - 1] != ::ldexp(1.0, n)) f.set("exp2_integral", out[0], n);
  }
  for (const float v : {0.5F, 1.5F, 2.5F, -0.5F, -1.5F, 0.49F, 1e6F, -7.7F}) {
    store(out, round(set1(v)));
    if (out[0] != ::nearbyint(v)) f.set("round", out[0], ::nearbyint(v));
  }
}

// Host is the definition of the 16-bit type T in the base room.
template <class Host, class T>
void check_conversions(Fault& f, const char* what) {
  for (uint32_t bits = 0; bits < 65536; bits += kLanes) {
    T in[kLanes], back[kLanes];
    float out[kLanes];
    for (int l = 0; l < kLanes; ++l)
      in[l].bits = static_cast<uint16_t>(bits + l);
    store(out, load(in));
    store(back, load(in));
    for (int l = 0; l < kLanes; ++l) {
      const double want = Host{in[l].bits}.value();
      if (!same_bits(out[l], static_cast<float>(want))) f.set(what, out[l], want);
      if (!same_bits(widen(in[l]), static_cast<float>(want))) f.set("widen", widen(in[l]), want);
      if (want == want && back[l].bits != in[l].bits)
        f.set("store of load", back[l].bits, bits + l);
      if (want != want && !(widen(back[l]) != widen(back[l]))) f.set("NaN", back[l].bits, bits + l);
    }
  }
  // Ties between neighbours, their f32 neighbours, and a coarse walk over all f32.
  const auto check = [&](uint32_t pattern) {
    const float v = bits_to_f32(pattern);
    T narrowed[kLanes], scalar;
    store(narrowed, set1(v));
    narrow(v, &scalar);
    const double got = Host{narrowed[kLanes - 1].bits}.value(), want = Host::from(v).value();
    if (!(got == want || (got != got && want != want))) f.set("narrow", got, want);
    if (v == v && scalar.bits != narrowed[0].bits) f.set("scalar narrow", scalar.bits, got);
  };
  for (uint32_t bits = 0; bits < 0x7bffU; ++bits) {
    const auto at = [](uint32_t b) { return Host{static_cast<uint16_t>(b)}.value(); };
    const uint32_t tie = f32_to_bits(static_cast<float>((at(bits) + at(bits + 1)) / 2));
    for (const uint32_t pattern : {tie - 1, tie, tie + 1})
      check(pattern), check(pattern | 0x80000000U);
  }
  for (uint64_t pattern = 0; pattern <= 0xffffffffU; pattern += 65521)
    check(static_cast<uint32_t>(pattern));
}

// Masked loads give 0 elsewhere, masked stores leave memory; both within a mere prefix.
template <class T>
void check_masks(Fault& f) {
  for (int n = 0; n <= kLanes; ++n) {
    const Mask m = first_lanes(n) & 0xa5b7U;
    T in[kLanes] = {}, out[kLanes];
    float lanes[kLanes];
    for (int l = 0; l < kLanes; ++l) {
      narrow(static_cast<float>(l + 1), in + l);
      narrow(-1.0F, out + l);
    }
    store(lanes, load(m, in));
    store(m, out, load(in));
    for (int l = 0; l < kLanes; ++l) {
      const bool set = (m >> l & 1U) != 0;
      const float loaded = set ? static_cast<float>(l + 1) : 0.0F;
      const float stored = set ? static_cast<float>(l + 1) : -1.0F;
      if (lanes[l] != loaded) f.set("masked load", lanes[l], loaded);
      if (widen(out[l]) != stored) f.set("masked store", widen(out[l]), stored);
    }
  }
}

inline double exact(Activation activation, double v) {
  const double six = v + 3 < 0 ? 0 : v + 3 > 6 ? 6 : v + 3;
  switch (activation) {
    case Activation::kSilu:
      return v / (1 + ::exp(-v));
    case Activation::kGelu:
      return v / 2 * ::erfc(-v / ::sqrt(2.0));
    case Activation::kHardswish:
      return v * six / 6;
    case Activation::kRelu6:
      return v < 0 ? 0 : v > 6 ? 6 : v;
    case Activation::kRelu:
      return v < 0 ? 0 : v;
    case Activation::kNone:
      break;
  }
  return v;
}

inline void check_activations(Fault& f) {
  for (const Activation a : {Activation::kNone, Activation::kRelu, Activation::kRelu6,
                             Activation::kSilu, Activation::kGelu, Activation::kHardswish}) {
    float out[kLanes];
    for (int i = -60000; i <= 60000; ++i) {
      const float v = static_cast<float>(i) * (i % 2 == 0 ? 0.0017F : 1e-6F);
      store(out, activate(a, set1(v)));
      const double want = exact(a, v);
      const double ulp = ::fmax(::ldexp(::fabs(want), -23), 0x1p-149);
      if (::fabs(out[0] - want) > 4 * ulp) f.set(name(a), out[0], want);
    }
    store(out, activate(a, set1(NAN)));
    if (out[0] == out[0]) f.set("activation of NaN", out[0], NAN);
  }
}

inline const char* simd_fault() {
  static Fault f;  // outlives the call
  check_arithmetic(f);
  check_permutes(f);
  check_conversions<Half, F16>(f, "load of f16");
  check_conversions<BFloat16, Bf16>(f, "load of bf16");
  check_masks<float>(f);
  check_masks<F16>(f);
  check_masks<Bf16>(f);
  check_activations(f);
  return f.text;
}

}  // namespace
}  // namespace convoy::test
