// Operand sets in one slab of memory.
#include "bench/operand_sets.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace convoy::bench {

Result<std::byte*> Slab::reserve(int64_t bytes) {
  if (bytes > device_.info().memory_bytes / 2) {
    return unavailable(fmt::format(
        "bench: {} bytes of operands exceed half of the memory; use a smaller problem", bytes));
  }
  if (static_cast<size_t>(bytes) > buffer_.bytes()) {
    buffer_ = {};
    Result<Buffer> grown = Buffer::allocate(device_, static_cast<size_t>(bytes));
    if (!grown) return grown.status();
    buffer_ = *std::move(grown);
  }
  return static_cast<std::byte*>(buffer_.data());
}

void OperandSets::select(int64_t i, RunArgs& args) const {
  const int64_t offset = i % count * set_bytes;
  for (TensorView RunArgs::* view : views)
    (args.*view).data = static_cast<std::byte*>((first.*view).data) + offset;
}

Result<OperandSets> make_sets(const ConvProblem& problem, int64_t total_bytes, int64_t least,
                              Slab& slab) {
  const std::vector<Operand> list = operands(problem);
  OperandSets sets;
  for (const Operand& operand : list)
    sets.set_bytes += padded_bytes(operand);
  sets.set_bytes = std::max<int64_t>(sets.set_bytes, 64);  // empty operands have addresses too
  sets.count = std::max(least, (total_bytes + sets.set_bytes - 1) / sets.set_bytes);
  const Result<std::byte*> memory = slab.reserve(sets.count * sets.set_bytes);
  if (!memory) return memory.status();
  std::byte* at = *memory;
  for (size_t o = 0; o < list.size(); ++o) {
    TensorView& view = sets.first.*list[o].view;
    view = place(list[o], problem, at);
    fill_nan(at, padded_bytes(list[o]));
    if (!list[o].output) {
      if (Status s = fill_normal(view, o + 1); !s.ok()) return s;
    }
    sets.views.push_back(list[o].view);
    at += padded_bytes(list[o]);
  }
  for (int64_t i = 1; i < sets.count; ++i)
    std::memcpy(*memory + i * sets.set_bytes, *memory, static_cast<size_t>(sets.set_bytes));
  return sets;
}

}  // namespace convoy::bench
