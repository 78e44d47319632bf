// TensorView: a strided view of somebody else's memory, in PyTorch's logical axis order.
#pragma once

#include <convoy/dtype.h>

#include <array>
#include <cstdint>
#include <span>
#include <string>

namespace convoy {

enum class Backend { kCpu, kCuda, kHip };

struct DeviceId {
  Backend backend = Backend::kCpu;
  int index = 0;
  bool operator==(const DeviceId&) const = default;
};

// kNchw: channels first, kNhwc: channels last, at every rank.
enum class Layout { kNchw, kNhwc };

inline constexpr int kMaxRank = 5;

// Axes are logical: (N,C,[D,][H,]W) for x and y, (K,C/g,[T,][R,]S) for w, (K) for a bias.
// Strides are in elements and may be zero, or anything on an axis of extent 1. Never owns memory.
struct TensorView {
  void* data = nullptr;
  DType dtype = DType::kF32;
  DeviceId device = {};
  int rank = 0;  // 0: no tensor
  std::array<int64_t, kMaxRank> sizes = {};
  std::array<int64_t, kMaxRank> strides = {};

  bool empty() const { return rank == 0; }
  int64_t elements() const;
};

// A gapless view over `data`, stored in `layout`: kNhwc moves axis 1 to the innermost place.
TensorView packed(void* data, DType dtype, std::span<const int64_t> sizes,
                  Layout layout = Layout::kNchw, DeviceId device = {});

// "2x3x5": the sizes of a tensor as messages print them.
std::string shape_text(std::span<const int64_t> sizes);

}  // namespace convoy
