// Small types that device text moves as one.
#pragma once

#include "base/portable.h"

namespace convoy {

using u8 = unsigned char;
using u16 = unsigned short;

// 8 and 16 bytes that move in one instruction; addresses are multiples of their size.
struct alignas(8) Bytes8 {
  u32 word[2];
};
struct alignas(16) Bytes16 {
  u32 word[4];
};

}  // namespace convoy
