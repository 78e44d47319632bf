// Copies of many sizes, warm and cold, timed as a row's calls are.
#include "bench/copy_times.h"

#include <algorithm>
#include <bit>

namespace convoy::bench {
namespace {

constexpr int64_t kAlign = 256;
constexpr int64_t kMostSets = 1024;
constexpr int64_t kLargest = int64_t{512} << 20;  // beyond it time is proportional to bytes
constexpr double kBudgetUs = 10e3;

// The five leading bits of a size, rounded.
int64_t rounded(int64_t bytes) {
  const auto width = static_cast<int>(std::bit_width(static_cast<uint64_t>(bytes)));
  if (width <= 5) return bytes;
  const int shift = width - 5;
  return (bytes + (int64_t{1} << (shift - 1))) >> shift << shift;
}

}  // namespace

Result<CacheFlush> CacheFlush::create(const Device& device, int64_t bytes) {
  CacheFlush flush;
  flush.device_ = device;
  Result<Buffer> buffer = Buffer::allocate(device, static_cast<size_t>(bytes));
  if (!buffer) return buffer.status();
  flush.buffer_ = *std::move(buffer);
  return flush;
}

Status CacheFlush::operator()(Stream stream) const {
  auto* const memory = static_cast<std::byte*>(buffer_.data());
  const size_t half = buffer_.bytes() / 2;
  return copy_bytes(device_, memory + half, memory, half, stream);
}

Result<double> CopyTimes::us(int64_t bytes, Cache cache, GraphTimer& timer,
                             const CacheFlush& flush) {
  if (bytes <= 0) return 0.0;
  const int64_t size = std::min(rounded(std::max(bytes, 2 * kAlign)), kLargest);
  const auto key = std::pair(cache, size);
  if (known_.count(key) == 0) {
    const Result<double> measured = measure(size, cache, timer, flush);
    if (!measured) return measured;
    known_[key] = *measured;
  }
  // Only what lies beyond the cost of a launch grows with the size; a few per cent here.
  const double scale = static_cast<double>(bytes) / static_cast<double>(size);
  return bytes < 2 * kAlign ? known_[key] : known_[key] * scale;
}

Result<double> CopyTimes::measure(int64_t bytes, Cache cache, GraphTimer& timer,
                                  const CacheFlush& flush) {
  const int64_t half = (bytes / 2 + kAlign - 1) / kAlign * kAlign;
  const bool cold = cache == Cache::kCold;
  const int64_t sets =
      cold ? std::clamp((cold_bytes_ + 2 * half - 1) / (2 * half), int64_t{2}, kMostSets) : 1;
  if (static_cast<size_t>(sets * 2 * half) > buffer_.bytes()) {
    buffer_ = {};
    Result<Buffer> grown = Buffer::allocate(device_, static_cast<size_t>(sets * 2 * half));
    if (!grown) return grown.status();
    buffer_ = *std::move(grown);
  }
  auto* const memory = static_cast<std::byte*>(buffer_.data());
  const auto copy = [&](Stream stream, int64_t i) {
    std::byte* const from = memory + i % sets * 2 * half;
    return copy_bytes(device_, from + half, from, static_cast<size_t>(bytes / 2), stream);
  };
  if (Status s = copy(timer.stream(), 0); !s.ok()) return s;
  const Result<double> once = timer.stream_us([&](Stream stream) { return copy(stream, 0); });
  if (!once) return once.status();
  GraphOptions options{.budget_us = kBudgetUs};
  if (cold && sets * 2 * half < cold_bytes_) options.before = flush;
  const int64_t calls = cold ? std::max(sets, calls_of(*once)) : calls_of(*once);
  // A set that a second round would find in the cache is read once.
  const Result<Summary> summary = time_graph(timer, options.before ? sets : calls, copy, options);
  if (!summary) return summary.status();
  return summary->median_us;
}

}  // namespace convoy::bench
