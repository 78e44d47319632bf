// Measures the CPU's ceilings: copies by size, multiply-adds, the fork-join of the pool.
#include "launch/cpu/calibrate.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

#include "launch/cpu/calibrate_loops.h"
#include "launch/cpu/each_thread.h"
#include "launch/cpu/parallel.h"
#include "launch/timer.h"

namespace convoy {
namespace {

// Best of at least these and of this long: a neighbour on the machine only ever slows a probe down.
constexpr int kRepetitions = 5;
constexpr double kProbeUs = 30e3;
// Past this no probe repeats, so that the whole stays below the 3 seconds of the contract.
constexpr double kBudgetUs = 2e6;
constexpr int64_t kSizes[] = {24 << 10,  64 << 10,  192 << 10, 768 << 10, 2 << 20,
                              4 << 20,   8 << 20,   16 << 20,  32 << 20,  64 << 20,
                              128 << 20, 256 << 20, 512 << 20};
// What one thread moves in one repetition at least; short enough to fit between interruptions.
constexpr int64_t kMovedBytes = 32 << 20;
constexpr int64_t kFlopsPerRepetition = 200'000'000;
// A smaller share of a thread measures the loop's ends, not a copy.
constexpr int64_t kSmallestShare = 8 << 10;

Probes probes_of(Isa isa) {
#if defined(__x86_64__)
  if (isa == Isa::kAvx512Bf16) return probes_avx512bf16();
  if (isa == Isa::kAvx512) return probes_avx512();
  if (isa == Isa::kAvx2) return probes_avx2();
#endif
  static_cast<void>(isa);
  return probes_baseline();
}

class Calibration {
 public:
  Calibration(const DeviceInfo& info, std::byte* memory, int64_t bytes)
      : threads_(info.threads), memory_(memory), bytes_(bytes), probes_(probes_of(info.isa)) {
    // Written once: pages never written all map to one page of zeros, which no copy should read.
    on_each_thread(threads_, [&](int i) {
      const ScopedPin pin(cpu(i));
      std::memset(memory_ + share(bytes_) * i, 1, static_cast<size_t>(share(bytes_)));
    });
  }

  Ceilings measure() {
    Ceilings c;
    for (const int64_t size : kSizes) {
      if (size > bytes_ || size / threads_ < kSmallestShare) continue;
      c.copy.push_back({size, copy_gbs(probes_.copy, size)});
    }
    if (probes_.stream != nullptr) c.copy_streaming_gbs = copy_gbs(probes_.stream, bytes_);
    c.fma_gflops = gflops(probes_.fma, probes_.fma_flops);
    if (probes_.matrix != nullptr) c.matrix_gflops = gflops(probes_.matrix, probes_.matrix_flops);
    c.fork_join_us = fork_join_us();
    return c;
  }

 private:
  // A CPU for each thread, or -1 where the caller may not use so many: one that is bound already
  // sees its own CPU only, and all threads on that one halved every ceiling of two cores.
  int cpu(int thread) const {
    return cpus_.size() < static_cast<size_t>(threads_) ? -1 : cpus_[static_cast<size_t>(thread)];
  }

  // Each thread's part of a working set, its two halves whole copy steps.
  int64_t share(int64_t size) const {
    constexpr int64_t kStep = 2 * static_cast<int64_t>(kCopyStep);
    return size / threads_ / kStep * kStep;
  }

  // The shortest time from the first start to the last end of body(i) on all threads.
  template <class Body>
  double best_us(const Body& body) const {
    double best = std::numeric_limits<double>::infinity();
    std::vector<double> starts(static_cast<size_t>(threads_)), ends(starts);
    const double first = now_us();
    for (int r = 0; r < kRepetitions || now_us() - first < kProbeUs; ++r) {
      on_each_thread(threads_, [&](int i) {
        const ScopedPin pin(cpu(i));
        starts[static_cast<size_t>(i)] = now_us();
        body(i);
        ends[static_cast<size_t>(i)] = now_us();
      });
      best = std::min(best, *std::max_element(ends.begin(), ends.end()) -
                                *std::min_element(starts.begin(), starts.end()));
      if (now_us() - begun_us_ > kBudgetUs) break;
    }
    return best;
  }

  double copy_gbs(Probes::Copy copy, int64_t size) const {
    const int64_t mine = share(size);
    const int64_t passes = std::max<int64_t>(1, kMovedBytes / mine);
    const double us = best_us([&](int i) {
      std::byte* from = memory_ + share(bytes_) * i;
      copy(from, from + mine / 2, static_cast<size_t>(mine / 2), passes);
    });
    return static_cast<double>(mine * passes * threads_) / (us * 1e3);
  }

  double gflops(Probes::Arithmetic loop, int64_t flops) const {
    const int64_t iterations = kFlopsPerRepetition / flops;
    const double us = best_us([&](int) { loop(iterations); });
    return static_cast<double>(iterations * flops * threads_) / (us * 1e3);
  }

  double fork_join_us() const {
    if (threads_ == 1) return 0;  // parallel_for then runs on the caller
    std::vector<double> times(501);
    for (double& t : times) {
      const double start = now_us();
      parallel_for(threads_, threads_, [](int64_t) {});
      t = now_us() - start;
    }
    const auto middle = times.begin() + static_cast<int64_t>(times.size() / 2);
    std::nth_element(times.begin(), middle, times.end());
    return *middle;
  }

  int threads_;
  std::byte* memory_;
  int64_t bytes_;
  Probes probes_;
  std::vector<int> cpus_ = allowed_cpus();
  double begun_us_ = now_us();
};

}  // namespace

Result<Ceilings> calibrate_cpu(const Device& device) {
  const DeviceInfo& info = device.info();
  const int64_t bytes = std::min<int64_t>(std::end(kSizes)[-1], info.memory_bytes / 8);
  Result<Buffer> memory = Buffer::allocate(device, static_cast<size_t>(bytes));
  if (!memory) return memory.status();
  return Calibration(info, static_cast<std::byte*>(memory->data()), bytes).measure();
}

}  // namespace convoy
