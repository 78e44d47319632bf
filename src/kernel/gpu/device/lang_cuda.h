// The NVIDIA half of the words of lang.h, for compute capability 8.0 and later.
#pragma once

#include "kernel/gpu/device/words.h"

#define CONVOY_DEVICE __device__ __forceinline__
#define CONVOY_UNROLL _Pragma("unroll")
#define CONVOY_NO_UNROLL _Pragma("unroll 1")
// CONVOY_KERNEL(name, threads, least blocks resident on a multiprocessor, type of the arguments):
// the function body follows and reads `args`.
#define CONVOY_KERNEL(name, threads, blocks, Args)              \
  extern "C" __global__ void __launch_bounds__(threads, blocks) \
      name(const __grid_constant__ Args args)

namespace convoy {

CONVOY_DEVICE u32 thread_index() {
  return threadIdx.x;
}
CONVOY_DEVICE u32 block_index() {
  return blockIdx.x;
}
CONVOY_DEVICE u32 block_count() {
  return gridDim.x;
}
CONVOY_DEVICE u32 lane_index() {
  return threadIdx.x % 32;
}
CONVOY_DEVICE u32 warp_index() {
  return threadIdx.x / 32;
}

template <class T>
CONVOY_DEVICE T* shared_memory() {
  extern __shared__ __align__(128) u8 convoy_shared[];
  return reinterpret_cast<T*>(convoy_shared);
}

CONVOY_DEVICE void sync_block() {
  __syncthreads();
}
CONVOY_DEVICE void sync_warp() {
  __syncwarp();
}
CONVOY_DEVICE bool any_in_block(bool value) {
  return __syncthreads_or(value) != 0;
}
CONVOY_DEVICE bool any_in_warp(bool value) {
  return __any_sync(~0U, value) != 0;
}
CONVOY_DEVICE u32 shuffle(u32 value, u32 lane) {
  return __shfl_sync(~0U, value, static_cast<int>(lane));
}
CONVOY_DEVICE float shuffle(float value, u32 lane) {
  return __shfl_sync(~0U, value, static_cast<int>(lane));
}

template <u32 kMask>
CONVOY_DEVICE u32 shuffle_xor(u32 value) {
  return __shfl_xor_sync(~0U, value, kMask);
}

CONVOY_DEVICE u32 in_register(u32 v) {
  asm volatile("" : "+r"(v));
  return v;
}
CONVOY_DEVICE i32 in_register(i32 v) {
  asm volatile("" : "+r"(v));
  return v;
}
CONVOY_DEVICE i64 in_register(i64 v) {
  asm volatile("" : "+l"(v));
  return v;
}
// A pointer keeps its address space only by way of the address within it.
template <class T>
CONVOY_DEVICE T* global_in_register(T* p) {
  size_t at = __cvta_generic_to_global(p);
  asm volatile("" : "+l"(at));
  return static_cast<T*>(__cvta_global_to_generic(at));
}
template <class T>
CONVOY_DEVICE T* shared_in_register(T* p) {
  const u32 at = in_register(static_cast<u32>(__cvta_generic_to_shared(p)));
  return static_cast<T*>(__cvta_shared_to_generic(at));
}

CONVOY_DEVICE u8 read_only(const u8* p) {
  return __ldg(p);
}
CONVOY_DEVICE u16 read_only(const u16* p) {
  return __ldg(p);
}
CONVOY_DEVICE u32 read_only(const u32* p) {
  return __ldg(p);
}
CONVOY_DEVICE float read_only(const float* p) {
  return __ldg(p);
}
CONVOY_DEVICE Bytes8 read_only(const Bytes8* p) {
  const uint2 v = __ldg(reinterpret_cast<const uint2*>(p));
  return {{v.x, v.y}};
}
CONVOY_DEVICE Bytes16 read_only(const Bytes16* p) {
  const uint4 v = __ldg(reinterpret_cast<const uint4*>(p));
  return {{v.x, v.y, v.z, v.w}};
}

template <class T>
CONVOY_DEVICE T read_whole(const T* p) {
  return *p;
}
template <class T>
CONVOY_DEVICE void write_whole(T* p, const T& v) {
  *p = v;
}

CONVOY_DEVICE u32 shared_address(const void* shared) {
  return static_cast<u32>(__cvta_generic_to_shared(shared));
}

template <int kBytes>
CONVOY_DEVICE void copy_async(void* shared, const void* global, bool valid) {
  static_assert(kBytes == 4 || kBytes == 8 || kBytes == 16);
  const u32 taken = valid ? kBytes : 0;
  if constexpr (kBytes == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(shared)),
                 "l"(global), "r"(taken)
                 : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(shared_address(shared)),
                 "l"(global), "n"(kBytes), "r"(taken)
                 : "memory");
  }
}
CONVOY_DEVICE void commit_copies() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}
template <int kLeft>
CONVOY_DEVICE void wait_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kLeft) : "memory");
}

template <int kMatrices>
CONVOY_DEVICE void load_matrix(u32 (&out)[kMatrices], const void* row) {
  const u32 at = shared_address(row);
  if constexpr (kMatrices == 1) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"
                 : "=r"(out[0])
                 : "r"(at)
                 : "memory");
  } else if constexpr (kMatrices == 2) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];"
                 : "=r"(out[0]), "=r"(out[1])
                 : "r"(at)
                 : "memory");
  } else {
    static_assert(kMatrices == 4);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(out[0]), "=r"(out[1]), "=r"(out[2]), "=r"(out[3])
                 : "r"(at)
                 : "memory");
  }
}
template <int kMatrices>
CONVOY_DEVICE void load_matrix_transposed(u32 (&out)[kMatrices], const void* row) {
  const u32 at = shared_address(row);
  if constexpr (kMatrices == 1) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];"
                 : "=r"(out[0])
                 : "r"(at)
                 : "memory");
  } else if constexpr (kMatrices == 2) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];"
                 : "=r"(out[0]), "=r"(out[1])
                 : "r"(at)
                 : "memory");
  } else {
    static_assert(kMatrices == 4);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(out[0]), "=r"(out[1]), "=r"(out[2]), "=r"(out[3])
                 : "r"(at)
                 : "memory");
  }
}

#define CONVOY_MMA_K16(type)                                                \
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32." type "." type       \
               ".f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};" \
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])             \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))
#define CONVOY_MMA_K8(type)                                          \
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32." type "." type \
               ".f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"   \
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])      \
               : "r"(a[0]), "r"(a[1]), "r"(b[0]))

struct F16;
struct Bf16;
struct Tf32;

// NVRTC lacks the builtin.
template <class A, class B>
inline constexpr bool kIsSame = false;
template <class A>
inline constexpr bool kIsSame<A, A> = true;

template <class Element, int kDepth, int kA, int kB>
CONVOY_DEVICE void multiply_add(float (&d)[4], const u32 (&a)[kA], const u32 (&b)[kB]) {
  if constexpr (kIsSame<Element, Tf32>) {
    static_assert(kDepth == 8 && kA == 4 && kB == 2);
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, "
        "{%8,%9}, {%0,%1,%2,%3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  } else if constexpr (kDepth == 16) {
    static_assert(kA == 4 && kB == 2);
    if constexpr (kIsSame<Element, F16>) {
      CONVOY_MMA_K16("f16");
    } else {
      CONVOY_MMA_K16("bf16");
    }
  } else {
    static_assert(kDepth == 8 && kA == 2 && kB == 1);
    if constexpr (kIsSame<Element, F16>) {
      CONVOY_MMA_K8("f16");
    } else {
      CONVOY_MMA_K8("bf16");
    }
  }
}
#undef CONVOY_MMA_K16
#undef CONVOY_MMA_K8

CONVOY_DEVICE float fused_multiply_add(float a, float b, float c) {
  return __fmaf_rn(a, b, c);
}
CONVOY_DEVICE double fused_multiply_add(double a, double b, double c) {
  return __fma_rn(a, b, c);
}
CONVOY_DEVICE float exponential(float v) {
  return expf(v);
}
CONVOY_DEVICE float complementary_error_function(float v) {
  return erfcf(v);
}
CONVOY_DEVICE double exponential(double v) {
  return exp(v);
}
CONVOY_DEVICE double complementary_error_function(double v) {
  return erfc(v);
}

CONVOY_DEVICE float f16_to_f32(u16 bits) {
  float v;
  asm("cvt.f32.f16 %0, %1;" : "=f"(v) : "h"(bits));
  return v;
}
CONVOY_DEVICE u32 f32_to_f16x2(float lo, float hi) {
  u32 v;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(v) : "f"(hi), "f"(lo));
  return v;
}
CONVOY_DEVICE u32 f32_to_bf16x2(float lo, float hi) {
  u32 v;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(v) : "f"(hi), "f"(lo));
  return v;
}
// A word of f32 whose 13 low bits are zero; ties go away from zero, as the hardware offers.
CONVOY_DEVICE u32 f32_to_tf32(float v) {
  u32 word;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(word) : "f"(v));
  return word;
}
CONVOY_DEVICE u32 f32_bits(float v) {
  return __float_as_uint(v);
}
CONVOY_DEVICE float f32_from_bits(u32 bits) {
  return __uint_as_float(bits);
}
CONVOY_DEVICE u64 f64_bits(double v) {
  return static_cast<u64>(__double_as_longlong(v));
}
CONVOY_DEVICE bool is_nan(float v) {
  return v != v;
}

CONVOY_DEVICE void atomic_max(u64* p, u64 v) {
  atomicMax(p, v);
}
CONVOY_DEVICE void atomic_min(u64* p, u64 v) {
  atomicMin(p, v);
}
CONVOY_DEVICE void atomic_add(u64* p, u64 v) {
  atomicAdd(p, v);
}

}  // namespace convoy
