// The timed loops of the calibration, as templates over one tier's vector; and their table.
// Two traps: a memory clobber makes a compiler keep an array of sums on the stack (a peak three
// times too low), and without any barrier the loop moves past the clock read. So registers are
// hidden one by one, and each loop is reached through a pointer from another translation unit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace convoy {

struct Probes {
  // Copies `bytes`, a multiple of kCopyStep, `passes` times.
  using Copy = void (*)(const std::byte* from, std::byte* to, size_t bytes, int64_t passes);
  // Runs the multiply-adds of `iterations` rounds.
  using Arithmetic = void (*)(int64_t iterations);
  Copy copy = nullptr;    // ordinary stores
  Copy stream = nullptr;  // non-temporal stores, null where there are none
  Arithmetic fma = nullptr;
  Arithmetic matrix = nullptr;  // bf16 dot products, null where there is no unit
  int64_t fma_flops = 0;        // of one round
  int64_t matrix_flops = 0;
};

Probes probes_baseline();
Probes probes_avx2();
Probes probes_avx512();
Probes probes_avx512bf16();

constexpr size_t kCopyStep = 256;
// Two units times a latency of four need 8 chains; 12 leave room and fit 16 registers.
constexpr int kChains = 12;

namespace {

template <class V, bool kStream>
void copy_loop(const std::byte* from, std::byte* to, size_t bytes, int64_t passes) {
  constexpr size_t kVectors = 4;
  constexpr size_t kVector = sizeof(typename V::Type);
  for (int64_t pass = 0; pass < passes; ++pass) {
    for (size_t at = 0; at < bytes; at += kVectors * kVector) {
      typename V::Type v[kVectors];
      for (size_t i = 0; i < kVectors; ++i) {
        v[i] = V::load(from + at + i * kVector);
        V::hide(v[i]);  // or the loop becomes a call of memcpy, which chooses stores of its own
      }
      for (size_t i = 0; i < kVectors; ++i) {
        if constexpr (kStream) {
          V::stream(to + at + i * kVector, v[i]);
        } else {
          V::store(to + at + i * kVector, v[i]);
        }
      }
    }
  }
}

template <class V>
void arithmetic_loop(int64_t iterations) {
  [iterations]<size_t... I>(std::index_sequence<I...>) {
    typename V::Type sums[kChains];
    auto factor = V::factor(), addend = V::addend();
    V::hide(factor);
    V::hide(addend);
    ((sums[I] = V::start(), V::hide(sums[I])), ...);  // hidden, or equal chains become one
    for (int64_t i = 0; i < iterations; ++i)
      ((sums[I] = V::step(sums[I], factor, addend)), ...);
    (V::hide(sums[I]), ...);
  }(std::make_index_sequence<kChains>());
}

}  // namespace
}  // namespace convoy
