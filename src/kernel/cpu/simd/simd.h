// The one SIMD wrapper: a vector of f32 lanes as wide as the flags of the including file allow.
//
// Everything lies in an anonymous namespace, because a file of each tier includes it: the linker
// merges inline functions of one name, and the copy of the widest tier might win.
#pragma once

#if defined(__AVX512F__)
#include "kernel/cpu/simd/avx512.h"
#elif defined(__AVX2__)
#include "kernel/cpu/simd/avx2.h"
#else
#include "kernel/cpu/simd/generic.h"
#endif
