// Copies of rising size over buffers larger than L2, captured into a graph and replayed.
#include "launch/cuda/calibrate.h"

#include <algorithm>
#include <span>
#include <vector>

#include "launch/cuda/cuda_device.h"
#include "launch/cuda/cuda_module.h"
#include "launch/cuda/cuda_timer.h"
#include "launch/module.h"

namespace convoy::cuda {
namespace {

// Source plus destination of one copy.
constexpr int64_t kSizes[] = {200'000,     800'000,     2'000'000,  4'000'000,
                              8'000'000,   16'000'000,  32'000'000, 64'000'000,
                              128'000'000, 256'000'000, 512'000'000};
constexpr int kReplays = 9;
constexpr int64_t kMostCopies = 256, kLeastCopies = 4;
// Other buffers by which one is revisited: four times L2, as for cold rows.
constexpr int64_t kRotationsOfL2 = 4;

class Copies {
 public:
  Copies(int index, StreamTimer& timer, std::byte* memory, int64_t bytes)
      : index_(index), timer_(timer), memory_(memory), bytes_(bytes) {}

  // Median microseconds of one copy.
  Result<double> measure(int64_t size) {
    const int64_t half = size / 2 / 16 * 16;
    const int64_t slots = bytes_ / (2 * half);
    const int64_t copies = std::clamp(slots, kLeastCopies, kMostCopies);
    // Strides of the whole memory, so that few small copies still rotate over all of it.
    const int64_t step = std::max<int64_t>(1, slots / copies);
    const Status captured = timer_.capture([&](Stream stream) {
      for (int64_t i = 0; i < copies; ++i) {
        std::byte* const at = memory_ + i * step % slots * 2 * half;
        Status s = cuda::copy(index_, at + half, at, static_cast<size_t>(half), stream);
        if (!s.ok()) return s;
      }
      return Status();
    });
    if (!captured.ok()) return captured;
    std::vector<double> times;
    for (int r = 0; r <= kReplays; ++r) {
      const Result<double> us = timer_.replay_us();
      if (!us) return us.status();
      if (r > 0) times.push_back(*us / static_cast<double>(copies));  // the first warms up
    }
    std::nth_element(times.begin(), times.begin() + kReplays / 2, times.end());
    return times[kReplays / 2];
  }

 private:
  int index_;
  StreamTimer& timer_;
  std::byte* memory_;
  int64_t bytes_;
};

// What the driver compiles: nothing, in one block of one thread.
constexpr char kEmptyKernel[] =
    ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry empty() { ret; }\n";
constexpr int kEmptyLaunches = 200;

// Median microseconds of an empty kernel as a node of a graph.
Result<double> empty_launch_us(int index, StreamTimer& timer) {
  const auto image = load(index, std::as_bytes(std::span(kEmptyKernel)));
  if (!image) return image.status();
  const auto empty = (*image)->function("empty", 0);
  if (!empty) return empty.status();
  const LaunchShape one{.blocks = 1, .threads = 1};
  const Status captured = timer.capture([&](Stream stream) {
    for (int i = 0; i < kEmptyLaunches; ++i) {
      if (Status s = (*empty)->launch(one, nullptr, 0, stream); !s.ok()) return s;
    }
    return Status();
  });
  if (!captured.ok()) return captured;
  std::vector<double> times;
  for (int r = 0; r <= kReplays; ++r) {
    const Result<double> us = timer.replay_us();
    if (!us) return us;
    if (r > 0) times.push_back(*us / kEmptyLaunches);
  }
  std::nth_element(times.begin(), times.begin() + kReplays / 2, times.end());
  return times[kReplays / 2];
}

}  // namespace

Result<Ceilings> calibrate(const Device& device) {
  const DeviceInfo& info = device.info();
  const int index = info.id.index;
  Result<std::unique_ptr<StreamTimer>> timer = make_timer(index);
  if (!timer) return timer.status();
  const int64_t wanted = std::max(2 * std::end(kSizes)[-1], kRotationsOfL2 * info.l2_bytes);
  const int64_t bytes = std::min(wanted, info.memory_bytes / 4);
  const auto memory = allocate(index, static_cast<size_t>(bytes));
  if (!memory) return memory.status();
  Copies copies(index, **timer, static_cast<std::byte*>(memory->get()), bytes);
  Ceilings c = info.ceilings;
  c.copy.clear();
  for (const int64_t size : kSizes) {
    if (size > bytes) break;
    const Result<double> us = copies.measure(size);
    if (!us) return us.status();
    if (*us > 0) c.copy.push_back({size, static_cast<double>(size) / (*us * 1e3)});
  }
  if (c.copy.empty()) c.copy = info.ceilings.copy;
  // A driver without a compiler for text leaves the default.
  if (const Result<double> us = empty_launch_us(index, **timer); us) c.fork_join_us = *us;
  return c;
}

}  // namespace convoy::cuda
