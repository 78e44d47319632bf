// What machine code shows without a device: registers, stack, and which instructions are in it.
#pragma once

#include <convoy/status.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace convoy {

// Of a cubin with one kernel. The largest of any function in it, and sums over all of them.
struct CubinFacts {
  int registers = 0;
  int64_t stack_bytes = 0;   // frames: local arrays, spills
  int64_t shared_bytes = 0;  // static
  int64_t instructions = 0;  // padding included
  int64_t matrix = 0;        // HMMA
  int64_t load_matrix = 0;   // LDSM
  int64_t async_copy = 0;    // LDGSTS
  int64_t fma = 0;           // FFMA
  int64_t local = 0;         // LDL and STL: stack traffic
};

// kInvalid where the bytes are no cubin of compute capability 7.0 or later.
Result<CubinFacts> inspect(std::span<const std::byte> cubin);

}  // namespace convoy
