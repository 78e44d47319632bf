// The dtypes that device text computes in.
#pragma once

#include "base/portable.h"

namespace convoy {

enum class Elem : u32 { kF32, kTf32, kF16, kBf16 };

}  // namespace convoy
