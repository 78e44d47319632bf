// parallel_for: every item once, the float environment of the body, a replaced pool.
#include "launch/cpu/parallel.h"

#include <convoy/device.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cfenv>
#include <thread>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "launch/cpu/each_thread.h"

namespace convoy {
namespace {

TEST(ParallelFor, RunsEveryItemOnce) {
  for (const int threads : {1, 2, 7}) {
    for (const int64_t count : {0, 1, 2, 1000}) {
      std::vector<std::atomic<int>> hits(static_cast<size_t>(count));
      parallel_for(count, threads, [&](int64_t i) { ++hits[static_cast<size_t>(i)]; });
      for (const auto& hit : hits)
        ASSERT_EQ(hit, 1);
    }
  }
}

// Shares hold at most 64 threads and are stolen from by threads that come late.
TEST(ParallelFor, RunsEveryItemOnceWhateverItCosts) {
  for (const int threads : {2, 3, 100}) {
    std::vector<std::atomic<int>> hits(257);
    std::atomic<int> sink = 0;
    parallel_for(257, threads, [&](int64_t i) {
      for (int64_t spin = 0; spin < (i < 40 ? 20000 : 10); ++spin)
        sink.fetch_add(1, std::memory_order_relaxed);
      ++hits[static_cast<size_t>(i)];
    });
    for (const auto& hit : hits)
      ASSERT_EQ(hit, 1);
  }
}

TEST(ScopedPin, BindsToOneCpuAndANegativeOneToNone) {
  const std::vector<int> before = allowed_cpus();
  ASSERT_FALSE(before.empty());
  {
    const ScopedPin none(-1);
    EXPECT_FALSE(none.pinned());
    EXPECT_EQ(allowed_cpus(), before);
    const ScopedPin last(before.back());
    EXPECT_EQ(allowed_cpus(), std::vector<int>{before.back()});
  }
  EXPECT_EQ(allowed_cpus(), before);
}

TEST(ParallelFor, OneThreadStaysOnTheCaller) {
  std::atomic<int> elsewhere = 0;
  const auto caller = std::this_thread::get_id();
  parallel_for(64, 1, [&](int64_t) { elsewhere += std::this_thread::get_id() != caller; });
  EXPECT_EQ(elsewhere, 0);
}

// What the caller set must neither reach the body nor be lost.
TEST(ParallelFor, BodiesRunInTheDefaultFloatEnvironment) {
  for (const int threads : {1, 2}) {
    ASSERT_EQ(std::fesetround(FE_UPWARD), 0);
#if defined(__x86_64__)
    _mm_setcsr(_mm_getcsr() | 0x8040);  // flush to zero, denormals are zero
#endif
    std::atomic<int> wrong = 0;
    parallel_for(64, threads, [&](int64_t) {
      volatile float smallest = 0x1p-149F, one = 1, little = 0x1p-30F;
      wrong += one + little != 1;
      wrong += smallest * one == 0;
    });
    const int kept = std::fegetround();
#if defined(__x86_64__)
    const bool flushing = (_mm_getcsr() & 0x8040) == 0x8040;
    _mm_setcsr(0x1f80);
    EXPECT_TRUE(flushing);
#endif
    std::fesetround(FE_TONEAREST);
    EXPECT_EQ(kept, FE_UPWARD);
    EXPECT_EQ(wrong, 0);
  }
}

TEST(ParallelFor, AReplacementGetsTheWorkUntilItIsRemoved) {
  int64_t items = 0;
  set_parallel_for([&](int64_t count, const std::function<void(int64_t)>& body) {
    items += count;
    for (int64_t i = 0; i < count; ++i)
      body(i);
  });
  std::atomic<int> ran = 0;
  parallel_for(10, 2, [&](int64_t) { ++ran; });
  set_parallel_for({});
  parallel_for(10, 2, [&](int64_t) { ++ran; });
  EXPECT_EQ(items, 10);
  EXPECT_EQ(ran, 20);
}

}  // namespace
}  // namespace convoy
