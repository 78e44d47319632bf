// The memory cache makes a value once however many ask, keeps its bounds, and forgets failures.
#include "jit/memory_cache.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

namespace convoy {
namespace {

using Cache = MemoryCache<std::string, int>;

Result<Cache::Made> never() {
  return internal("asked again");
}
auto made(int value, int64_t bytes = 1) {
  return [=]() -> Result<Cache::Made> { return Cache::Made{value, bytes}; };
}

TEST(MemoryCache, OneThreadMakesWhatManyAskFor) {
  Cache cache(8, 100);
  std::atomic<int> calls = 0, asking = 0;
  const auto slow = [&]() -> Result<Cache::Made> {
    ++calls;
    while (asking < 4)
      std::this_thread::yield();
    return Cache::Made{7, 1};
  };
  std::vector<std::thread> threads;
  std::atomic<int> sum = 0;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      ++asking;
      sum += *cache.get("a", slow);
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(sum, 28);
  EXPECT_EQ(**cache.find("a"), 7);
}

// A lock held while "a" is made would never let this end.
TEST(MemoryCache, AnotherKeyDoesNotWait) {
  Cache cache(8, 100);
  std::atomic<bool> other_done = false;
  std::thread first([&] {
    const auto result = cache.get("a", [&]() -> Result<Cache::Made> {
      while (!other_done)
        std::this_thread::yield();
      return Cache::Made{1, 1};
    });
    EXPECT_TRUE(result.ok());
  });
  EXPECT_EQ(*cache.get("b", made(2)), 2);
  other_done = true;
  first.join();
}

TEST(MemoryCache, ForgetsFailures) {
  Cache cache(8, 100);
  EXPECT_FALSE(cache.get("a", never).ok());
  EXPECT_EQ(cache.size(), 0U);
  EXPECT_EQ(*cache.get("a", made(1)), 1);
}

TEST(MemoryCache, DropsTheLeastRecentlyUsed) {
  Cache cache(2, 100);
  for (const char* key : {"a", "b"})
    ASSERT_TRUE(cache.get(key, made(1)).ok());
  EXPECT_TRUE(cache.get("a", never).ok());
  EXPECT_TRUE(cache.get("c", made(1)).ok());
  EXPECT_TRUE(cache.find("a").has_value());
  EXPECT_FALSE(cache.find("b").has_value());
  EXPECT_TRUE(cache.get("big", made(1, 99)).ok());
  EXPECT_EQ(cache.size(), 2U) << "99 and 1 bytes fit";
  EXPECT_TRUE(cache.get("more", made(1, 2)).ok());
  EXPECT_FALSE(cache.find("big").has_value());
  EXPECT_EQ(*cache.get("huge", made(5, 101)), 5) << "given, not kept";
  EXPECT_FALSE(cache.find("huge").has_value());
}

// What is being made outlives the bound, and its maker finds its slot again.
TEST(MemoryCache, KeepsWhatIsOnItsWay) {
  Cache cache(1, 100);
  const auto outer = [&]() -> Result<Cache::Made> {
    for (const char* key : {"b", "c", "d"})
      EXPECT_TRUE(cache.get(key, made(1)).ok());
    return Cache::Made{3, 1};
  };
  EXPECT_EQ(*cache.get("a", outer), 3);
  EXPECT_EQ(cache.size(), 1U);
}

}  // namespace
}  // namespace convoy
