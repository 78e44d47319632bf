// Copies guarded operands to a device and back.
#include "device/mirror.h"

#include <cstring>

namespace convoy::test {
namespace {

constexpr size_t kAlign = 256;  // of each storage; a view keeps its offset from it

size_t padded(size_t bytes) {
  return (bytes + kAlign - 1) / kAlign * kAlign;
}

TensorView RunArgs::* member(const std::string& name) {
  static const std::map<std::string, TensorView RunArgs::*> kMembers = {
      {"x", &RunArgs::x},   {"w", &RunArgs::w},   {"bias", &RunArgs::bias}, {"y", &RunArgs::y},
      {"dy", &RunArgs::dy}, {"dx", &RunArgs::dx}, {"dw", &RunArgs::dw},     {"db", &RunArgs::db}};
  return kMembers.at(name);
}

}  // namespace

Result<std::byte*> Arena::reserve(size_t bytes) {
  if (bytes > buffer_.bytes()) {
    buffer_ = {};
    Result<Buffer> grown = Buffer::allocate(device_, 2 * bytes);
    if (!grown) return grown.status();
    buffer_ = *std::move(grown);
  }
  return static_cast<std::byte*>(buffer_.data());
}

Result<OwnStream> OwnStream::create(const Device& device) {
  OwnStream own;
  if (device.info().id.backend == Backend::kCpu) return own;
  Result<GraphTimer> timer = GraphTimer::create(device);
  if (!timer) return timer.status();
  own.timer_ = *std::move(timer);
  return own;
}

Result<DeviceMirror> DeviceMirror::upload(const Operands& operands, Arena& arena, Stream stream) {
  DeviceMirror mirror;
  mirror.device_ = arena.device();
  mirror.stream_ = stream;
  size_t total = 0;
  for (const auto& [name, storage] : operands.all())
    total += padded(storage.memory().size());
  mirror.staging_.resize(total);
  const Result<std::byte*> memory = arena.reserve(total);
  if (!memory) return memory.status();
  mirror.memory_ = *memory;
  std::byte* at = *memory;
  for (const auto& [name, storage] : operands.all()) {
    TensorView& view = mirror.args_.*member(name);
    view = storage.view();
    view.device = arena.device().info().id;
    view.data = at + (static_cast<std::byte*>(storage.view().data) - storage.memory().data());
    at += padded(storage.memory().size());
  }
  if (Status s = mirror.refresh(operands); !s.ok()) return s;
  return mirror;
}

Status DeviceMirror::refresh(const Operands& operands) {
  operands_ = &operands;
  std::byte* at = staging_.data();
  for (const auto& [name, storage] : operands_->all()) {
    std::memcpy(at, storage.memory().data(), storage.memory().size());
    at += padded(storage.memory().size());
  }
  if (Status s = copy_bytes(device_, memory_, staging_.data(), staging_.size(), stream_); !s.ok()) {
    return s;
  }
  return synchronize(device_, stream_);  // the staging memory may change after this
}

Status DeviceMirror::download() {
  if (Status s = copy_bytes(device_, staging_.data(), memory_, staging_.size(), stream_); !s.ok()) {
    return s;
  }
  if (Status s = synchronize(device_, stream_); !s.ok()) return s;
  const std::byte* at = staging_.data();
  for (const auto& [name, storage] : operands_->all()) {
    std::memcpy(storage.memory().data(), at, storage.memory().size());
    at += padded(storage.memory().size());
  }
  return {};
}

Status run_on_device(const Plan& plan, const Operands& operands, Arena& arena, Stream stream) {
  Result<DeviceMirror> mirror = DeviceMirror::upload(operands, arena, stream);
  if (!mirror) return mirror.status();
  RunArgs args = mirror->args();
  Buffer workspace;
  if (const size_t bytes = plan.workspace_bytes(); bytes > 0) {
    Result<Buffer> memory = Buffer::allocate(arena.device(), bytes);
    if (!memory) return memory.status();
    workspace = *std::move(memory);
    args.workspace = workspace.data();
    args.workspace_bytes = bytes;
  }
  if (Status s = plan.run(args, stream); !s.ok()) return s;
  return mirror->download();
}

}  // namespace convoy::test
