// The words of lang.h on the host, for tests: a block's threads are fibers that meet at barriers,
// so device text runs, and is judged, where there is no device.
//
// Threads are resumed in a random order and asynchronous copies land as late as they may, over a
// poisoned target: a missing barrier or wait shows as a wrong value.
#pragma once

#include <convoy/dtype.h>

#include <array>
#include <cmath>
#include <cstring>
#include <functional>

#include "kernel/gpu/device/words.h"

#define CONVOY_DEVICE inline
#define CONVOY_UNROLL
#define CONVOY_NO_UNROLL

namespace convoy {

namespace emulator {

// Runs `kernel` once per thread of `blocks` blocks, one block after another. Throws
// std::logic_error where threads wait for each other for ever.
void run(u32 blocks, u32 threads, u32 shared_bytes, const std::function<void()>& kernel,
         u64 seed = 1);

struct Place {
  u32 thread, block, blocks;
};
Place here();
void* shared();
void wait_for_block();
void wait_for_warp();
// 64 bytes of each lane of the calling warp, and 4 of each thread of its block.
void* lane_slot(u32 lane);
bool any_vote(bool value);
// Throws std::logic_error where `p` is no multiple of `bytes`: the device stops there.
void check_aligned(const void* p, u32 bytes);
void start_copy(void* shared, const void* global, u32 bytes, bool valid);
void commit();
void finish_copies(u32 left);

// What every lane of the warp passed, in lane order.
template <class T>
std::array<T, 32> gather(const T& mine) {
  static_assert(sizeof(T) <= 64);
  std::memcpy(lane_slot(here().thread % 32), &mine, sizeof mine);
  wait_for_warp();
  std::array<T, 32> all;
  for (u32 lane = 0; lane < 32; ++lane)
    std::memcpy(&all[lane], lane_slot(lane), sizeof mine);
  wait_for_warp();
  return all;
}

}  // namespace emulator

inline u32 thread_index() {
  return emulator::here().thread;
}
inline u32 block_index() {
  return emulator::here().block;
}
inline u32 block_count() {
  return emulator::here().blocks;
}
inline u32 lane_index() {
  return thread_index() % 32;
}
inline u32 warp_index() {
  return thread_index() / 32;
}
template <class T>
T* shared_memory() {
  return static_cast<T*>(emulator::shared());
}
inline void sync_block() {
  emulator::wait_for_block();
}
inline void sync_warp() {
  emulator::wait_for_warp();
}
inline bool any_in_block(bool value) {
  return emulator::any_vote(value);
}
inline bool any_in_warp(bool value) {
  bool any = false;
  for (const bool one : emulator::gather(value))
    any = any || one;
  return any;
}
template <class T>
T shuffle(T value, u32 lane) {
  return emulator::gather(value)[lane % 32];
}

template <u32 kMask>
u32 shuffle_xor(u32 value) {
  return shuffle(value, lane_index() ^ kMask);
}
template <class T>
T in_register(T v) {
  return v;
}
template <class T>
T* global_in_register(T* p) {
  return p;
}
template <class T>
T* shared_in_register(T* p) {
  return p;
}

template <class T>
T read_only(const T* p) {
  emulator::check_aligned(p, sizeof(T));
  return *p;
}
template <class T>
T read_whole(const T* p) {
  emulator::check_aligned(p, sizeof(T));
  return *p;
}
template <class T>
void write_whole(T* p, const T& v) {
  emulator::check_aligned(p, sizeof(T));
  *p = v;
}
template <int kBytes>
void copy_async(void* shared, const void* global, bool valid) {
  static_assert(kBytes == 4 || kBytes == 8 || kBytes == 16);
  emulator::check_aligned(shared, kBytes);
  emulator::check_aligned(global, kBytes);
  emulator::start_copy(shared, global, kBytes, valid);
}
inline void commit_copies() {
  emulator::commit();
}
template <int kLeft>
void wait_copies() {
  emulator::finish_copies(kLeft);
}

template <int kMatrices>
void load_matrix(u32 (&out)[kMatrices], const void* row) {
  if (lane_index() < 8 * kMatrices) emulator::check_aligned(row, 16);
  const auto rows = emulator::gather(row);
  const u32 lane = lane_index();
  for (int i = 0; i < kMatrices; ++i)
    std::memcpy(&out[i], static_cast<const u8*>(rows[8 * i + lane / 4]) + lane % 4 * 4, 4);
}
template <int kMatrices>
void load_matrix_transposed(u32 (&out)[kMatrices], const void* row) {
  if (lane_index() < 8 * kMatrices) emulator::check_aligned(row, 16);
  const auto rows = emulator::gather(row);
  const u32 lane = lane_index();
  for (int i = 0; i < kMatrices; ++i) {
    u16 pair[2];
    for (u32 j = 0; j < 2; ++j)
      std::memcpy(&pair[j], static_cast<const u8*>(rows[8 * i + lane % 4 * 2 + j]) + lane / 4 * 2,
                  2);
    std::memcpy(&out[i], pair, 4);
  }
}

inline float f16_to_f32(u16 bits) {
  return static_cast<float>(Half{bits}.value());
}
inline u32 f32_to_f16x2(float lo, float hi) {
  return Half::from(lo).bits | static_cast<u32>(Half::from(hi).bits) << 16;
}
inline u32 f32_to_bf16x2(float lo, float hi) {
  return BFloat16::from(lo).bits | static_cast<u32>(BFloat16::from(hi).bits) << 16;
}
inline u32 f32_bits(float v) {
  u32 bits;
  std::memcpy(&bits, &v, 4);
  return bits;
}
inline float f32_from_bits(u32 bits) {
  float v;
  std::memcpy(&v, &bits, 4);
  return v;
}
inline u32 f32_to_tf32(float v) {
  return std::isfinite(v) ? (f32_bits(v) + 0x1000U) & ~0x1FFFU : f32_bits(v);
}
inline u64 f64_bits(double v) {
  u64 bits;
  std::memcpy(&bits, &v, 8);
  return bits;
}
inline bool is_nan(float v) {
  return v != v;
}
inline float fused_multiply_add(float a, float b, float c) {
  return std::fma(a, b, c);
}
inline double fused_multiply_add(double a, double b, double c) {
  return std::fma(a, b, c);
}
inline float exponential(float v) {
  return std::exp(v);
}
inline float complementary_error_function(float v) {
  return std::erfc(v);
}
inline double exponential(double v) {
  return std::exp(v);
}
inline double complementary_error_function(double v) {
  return std::erfc(v);
}

// A block's threads take turns, and blocks follow one another.
inline void atomic_max(u64* p, u64 v) {
  if (v > *p) *p = v;
}
inline void atomic_min(u64* p, u64 v) {
  if (v < *p) *p = v;
}
inline void atomic_add(u64* p, u64 v) {
  *p += v;
}

struct F16;
struct Bf16;
struct Tf32;

namespace emulator {

template <class Element>
double half_of(u32 word, u32 which) {
  const auto bits = static_cast<uint16_t>(word >> 16 * which);
  if constexpr (__is_same(Element, F16)) {
    return Half{bits}.value();
  } else {
    return BFloat16{bits}.value();
  }
}
inline double tf32_value(u32 word) {
  return f32_from_bits(word & ~0x1FFFU);
}

}  // namespace emulator

template <class Element, int kDepth, int kA, int kB>
void multiply_add(float (&d)[4], const u32 (&a)[kA], const u32 (&b)[kB]) {
  struct Fragments {
    u32 a[kA], b[kB];
  } mine;
  std::memcpy(mine.a, a, sizeof a);
  std::memcpy(mine.b, b, sizeof b);
  const auto all = emulator::gather(mine);
  const u32 lane = lane_index();
  for (u32 i = 0; i < 4; ++i) {
    const u32 row = lane / 4 + i / 2 * 8, column = lane % 4 * 2 + i % 2;
    double sum = d[i];
    for (u32 k = 0; k < kDepth; ++k) {
      if constexpr (__is_same(Element, Tf32)) {
        const u32 t = k % 4;
        sum += emulator::tf32_value(all[row % 8 * 4 + t].a[row / 8 + k / 4 * 2]) *
               emulator::tf32_value(all[column * 4 + t].b[k / 4]);
      } else {
        const u32 t = k % 8 / 2;
        sum += emulator::half_of<Element>(all[row % 8 * 4 + t].a[row / 8 + k / 8 * 2], k % 2) *
               emulator::half_of<Element>(all[column * 4 + t].b[k / 8], k % 2);
      }
    }
    d[i] = static_cast<float>(sum);
  }
}

}  // namespace convoy
