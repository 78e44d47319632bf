// The one seam through which CPU kernels use threads.
#pragma once

#include <cstdint>
#include <functional>

namespace convoy {

// Runs body(i) for every i in [0, count) on at most `threads` threads; on the caller alone where
// one thread or one item suffices. Every body runs with the default floating-point environment
// (nearest even, subnormals kept), whatever the caller or a pool thread has set.
void parallel_for(int64_t count, int threads, const std::function<void(int64_t)>& body);

}  // namespace convoy
