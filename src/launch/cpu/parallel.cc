// parallel_for over oneTBB, or over the user's replacement.
#include "launch/cpu/parallel.h"

#include <convoy/device.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <cfenv>
#include <mutex>
#include <utility>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace convoy {
namespace {

ParallelFor& replacement() {
  static ParallelFor parallel_for;
  return parallel_for;
}

// Sets the default rounding and subnormal modes and restores the thread's own on exit.
class DefaultFloatEnvironment {
 public:
#if defined(__x86_64__)
  DefaultFloatEnvironment() : saved_(_mm_getcsr()) { _mm_setcsr(0x1f80); }
  ~DefaultFloatEnvironment() { _mm_setcsr(saved_); }
#else
  DefaultFloatEnvironment() {
    std::fegetenv(&saved_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~DefaultFloatEnvironment() { std::fesetenv(&saved_); }
#endif
  DefaultFloatEnvironment(const DefaultFloatEnvironment&) = delete;
  DefaultFloatEnvironment& operator=(const DefaultFloatEnvironment&) = delete;

 private:
#if defined(__x86_64__)
  unsigned saved_;
#else
  std::fenv_t saved_;
#endif
};

// One arena per thread count, kept for the life of the process: making one costs more than a layer.
tbb::task_arena& arena(int threads) {
  constexpr int kArenas = 256;
  constexpr int kMostThreads = 4096;
  static tbb::task_arena* arenas[kArenas] = {};
  static std::once_flag once[kArenas];
  // Without it oneTBB prints a warning where more threads are asked for than there are cores.
  static tbb::global_control limit(tbb::global_control::max_allowed_parallelism, kMostThreads);
  const int i = threads < kArenas ? threads : kArenas - 1;
  std::call_once(once[i], [i, threads] { arenas[i] = new tbb::task_arena(threads); });
  return *arenas[i];
}

}  // namespace

void set_parallel_for(ParallelFor parallel_for) {
  replacement() = std::move(parallel_for);
}

void parallel_for(int64_t count, int threads, const std::function<void(int64_t)>& body) {
  if (count <= 0) return;
  if (threads <= 1 || count == 1) {
    const DefaultFloatEnvironment environment;
    for (int64_t i = 0; i < count; ++i)
      body(i);
    return;
  }
  const auto guarded = [&body](int64_t i) {
    const DefaultFloatEnvironment environment;
    body(i);
  };
  if (replacement()) {
    replacement()(count, guarded);
    return;
  }
  arena(threads).execute(
      [&] { tbb::parallel_for(int64_t{0}, count, guarded, tbb::simple_partitioner()); });
}

}  // namespace convoy
