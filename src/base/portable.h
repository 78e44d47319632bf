// The words that host code and run-time compiled device text share; no standard headers.
#pragma once

#if defined(__CUDACC__) || defined(__HIPCC__) || defined(__CUDACC_RTC__)
#define CONVOY_HD __host__ __device__
#else
#define CONVOY_HD
#endif

namespace convoy {

using i32 = int;
using u32 = unsigned int;
using i64 = long long;
using u64 = unsigned long long;
static_assert(sizeof(i32) == 4 && sizeof(i64) == 8);

}  // namespace convoy
