// Operand sets in device memory.
#include "bench/device_sets.h"

#include <algorithm>

namespace convoy::bench {
namespace {

constexpr int64_t kPool = 1'048'573;  // elements; odd, so that rows and tiles do not repeat
constexpr int64_t kNanBytes = 4 << 20;
constexpr int64_t kAlign = 256;

int64_t aligned_bytes(const Operand& operand) {
  return (padded_bytes(operand) + kAlign - 1) / kAlign * kAlign;
}

}  // namespace

Result<Buffer> Pools::normal(DType dtype) {
  if (const auto found = normal_.find(dtype); found != normal_.end()) return found->second;
  const auto bytes = static_cast<size_t>(kPool * size_of(dtype));
  std::vector<std::byte> values(bytes);
  const int64_t sizes[1] = {kPool};
  if (Status s = bench::fill_normal(packed(values.data(), dtype, sizes), 1); !s.ok()) return s;
  Result<Buffer> pool = Buffer::allocate(device_, bytes);
  if (!pool) return pool.status();
  if (Status s = copy_bytes(device_, pool->data(), values.data(), bytes); !s.ok()) return s;
  normal_[dtype] = *pool;
  return pool;
}

Status Pools::repeat(const void* from, int64_t period, std::byte* to, int64_t bytes) {
  int64_t done = std::min(period, bytes);
  if (done == 0) return {};
  if (Status s = copy_bytes(device_, to, from, static_cast<size_t>(done)); !s.ok()) return s;
  while (done < bytes) {
    const int64_t next = std::min(done, bytes - done);
    if (Status s = copy_bytes(device_, to + done, to, static_cast<size_t>(next)); !s.ok()) return s;
    done += next;
  }
  return {};
}

Status Pools::fill_normal(DType dtype, std::byte* to, int64_t bytes, int64_t which) {
  const Result<Buffer> pool = normal(dtype);
  if (!pool) return pool.status();
  const int64_t skipped = which * 7919 * size_of(dtype);
  return repeat(static_cast<const std::byte*>(pool->data()) + skipped,
                static_cast<int64_t>(pool->bytes()) - skipped, to, bytes);
}

Status Pools::fill_nan(void* to, int64_t bytes) {
  if (nan_.bytes() == 0) {
    const std::vector<std::byte> nan(kNanBytes, std::byte{0xff});
    Result<Buffer> pool = Buffer::allocate(device_, nan.size());
    if (!pool) return pool.status();
    if (Status s = copy_bytes(device_, pool->data(), nan.data(), nan.size()); !s.ok()) return s;
    nan_ = *std::move(pool);
  }
  return repeat(nan_.data(), kNanBytes, static_cast<std::byte*>(to), bytes);
}

Result<OperandSets> make_device_sets(const ConvProblem& problem, const Device& device,
                                     int64_t total_bytes, int64_t most, Slab& slab, Pools& pools) {
  const std::vector<Operand> list = operands(problem);
  OperandSets sets;
  for (const Operand& operand : list)
    sets.set_bytes += aligned_bytes(operand);
  sets.set_bytes = std::max(sets.set_bytes, kAlign);  // empty operands have addresses too
  sets.count = std::clamp((total_bytes + sets.set_bytes - 1) / sets.set_bytes, int64_t{2}, most);
  const Result<std::byte*> memory = slab.reserve(sets.count * sets.set_bytes);
  if (!memory) return memory.status();
  std::byte* at = *memory;
  for (size_t o = 0; o < list.size(); ++o) {
    TensorView& view = sets.first.*list[o].view;
    view = place(list[o], problem, at);
    view.device = device.info().id;
    const int64_t bytes = aligned_bytes(list[o]);
    const Status filled =
        list[o].output ? pools.fill_nan(at, bytes)
                       : pools.fill_normal(list[o].dtype, at, bytes, static_cast<int64_t>(o));
    if (!filled.ok()) return filled;
    sets.views.push_back(list[o].view);
    at += bytes;
  }
  for (int64_t done = 1; done < sets.count;) {
    const int64_t next = std::min(done, sets.count - done);
    if (Status s = copy_bytes(device, *memory + done * sets.set_bytes, *memory,
                              static_cast<size_t>(next * sets.set_bytes));
        !s.ok()) {
      return s;
    }
    done += next;
  }
  return sets;
}

}  // namespace convoy::bench
