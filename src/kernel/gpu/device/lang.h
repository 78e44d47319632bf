// The words of device text, each backend's half in a header of its own. Nothing else in a .cuh
// knows which compiler reads it, and no machine instruction is written outside these halves.
//
// A kernel is a function template over its compiled-in configuration, called with one struct of
// arguments. It runs as blocks of threads on a one-dimensional grid, 32 lanes to a warp.
#pragma once

// Each half defines, in namespace convoy:
//
//   CONVOY_DEVICE             qualifies a function that runs on the device, inlined
//   CONVOY_UNROLL             unrolls the loop that follows; CONVOY_NO_UNROLL does not
//   CONVOY_KERNEL(...)        the entry: see lang_cuda.h
//
//   thread_index() block_index() lane_index() warp_index()      u32; block_count()
//   shared_memory<T>()        the block's dynamic shared memory, 128-byte aligned
//   sync_block() sync_warp()  barriers that also order shared memory
//   any_in_block(b) any_in_warp(b)      votes; every thread (lane) takes part, a barrier each
//   shuffle(v, lane)          v of that lane; u32 or float
//   shuffle_xor<mask>(v)      v of lane ^ mask; u32
//   in_register(v)            v, u32 or i32, computed once where the call stands, not again at each
//                             use; so global_in_register(p) and shared_in_register(p) for pointers
//
//   read_only(p)              *p from global memory that nobody writes: u8 u16 u32 float Bytes8
//                             Bytes16
//   read_whole(p) write_whole(p, v)  *p and *p = v, of u16 to Bytes16 in shared or global memory
//   copy_async<4|8|16>(shared, global, valid)    starts a copy; zeros arrive where not valid, and
//                             then `global` is not read but must be an address of the tensor
//                             Addresses are multiples of what is moved, or the device stops.
//   commit_copies()           closes a group of copies; wait_copies<n>() returns when all but the
//                             newest n groups of this thread have arrived (then sync_block())
//
//   load_matrix<x>(out, row)  ldmatrix of x = 1, 2, 4 matrices of 8 rows of 16 bytes: lane 8i+j
//                             gives the address of row j of matrix i; out[i] of lane l is word l%4
//                             of row l/4. load_matrix_transposed<x>: of 16-bit elements, out[i] of
//                             lane l is elements (2(l%4), l/4) and (2(l%4)+1, l/4) of (row, column)
//
//   multiply_add<Element, k>(d, a, b)            d += A * B of one warp, f32 sums, as mma.sync
//       m16n8k16 F16, Bf16: a[4] b[2]; m16n8k8 F16, Bf16: a[2] b[1]; m16n8k8 Tf32: a[4] b[2]
//       with g = lane/4, t = lane%4 (16 bit, k16): a[0] = A(g, 2t..2t+1)  a[1] = A(g+8, 2t..)
//       a[2] = A(g, 2t+8..) a[3] = A(g+8, 2t+8..)  b[0] = B(2t..2t+1, g)  b[1] = B(2t+8.., g)
//       k8: a[0] a[1] and b[0] only. tf32 k8: a[0] = A(g,t) a[1] = A(g+8,t) a[2] = A(g,t+4)
//       a[3] = A(g+8,t+4)  b[0] = B(t,g) b[1] = B(t+4,g). d[0..1] = D(g, 2t..2t+1) d[2..3] = D(g+8,
//       ..)
//
//   fused_multiply_add(a, b, c)   a*b+c rounded once; f32 or f64
//   exponential(v) complementary_error_function(v)    f32 or f64, within 4 ulp
//   f16_to_f32(u16) f32_to_f16x2(lo, hi) f32_to_bf16x2(lo, hi) f32_to_tf32(v)   to nearest even
//   f64_bits(v)               the u64 of the same bits
//   is_nan(v)
//
//   atomic_max(p, v) atomic_min(p, v) atomic_add(p, v)      on a u64 of global memory

#if defined(__CUDACC_RTC__)
#include "kernel/gpu/device/lang_cuda.h"
#else
#include "kernel/gpu/device/lang_host.h"
#endif
