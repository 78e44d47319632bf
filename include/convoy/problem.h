// ConvProblem: one grouped convolution, its text form, its rules and what it costs.
#pragma once

#include <convoy/status.h>
#include <convoy/tensor.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace convoy {

enum class Pass { kFprop, kDgrad, kWgrad };
enum class Activation { kNone, kRelu, kRelu6, kSilu, kGelu, kHardswish };
enum class BiasType { kNone, kSame, kF32 };  // kSame: the dtype of the tensors

// Spatial arrays hold (D,H,W), filters (T,R,S); a conv2d uses entries 1 and 2, a conv1d entry 2,
// and the entries before first_axis() keep their defaults, so a kernel may run every problem as 3D.
// C and K count all groups. dgrad and wgrad name the shapes of the forward pass.
struct ConvProblem {
  int rank = 2;
  Pass pass = Pass::kFprop;
  DType dtype = DType::kF32;
  int64_t N = 1, C = 1, K = 1, G = 1;
  std::array<int64_t, 3> in = {1, 1, 1};
  std::array<int64_t, 3> filter = {1, 1, 1};
  std::array<int64_t, 3> stride = {1, 1, 1};
  std::array<int64_t, 3> pad_lo = {0, 0, 0};
  std::array<int64_t, 3> pad_hi = {0, 0, 0};
  std::array<int64_t, 3> dilation = {1, 1, 1};
  Layout layout = Layout::kNchw;
  BiasType bias = BiasType::kNone;
  Activation activation = Activation::kNone;

  int first_axis() const { return 3 - rank; }
  int64_t cpg() const { return C / G; }
  int64_t kpg() const { return K / G; }
  bool operator==(const ConvProblem&) const = default;
};

const char* name(Pass pass);
const char* name(Activation activation);
const char* name(Layout layout);

// Output extent along spatial axis d: 0 is Z, 1 is P, 2 is Q. Every size in Convoy comes from here.
int64_t out_extent(const ConvProblem& p, int d);

// Everything that must hold: groups, extents, strides, pads, the filter fits, no product overflows.
Status validate(const ConvProblem& p);

// What a text says, each field that it may leave out still open. `run` fills them from arrays.
struct PartialProblem {
  enum class Pad { kNumbers, kSame, kCausal };
  ConvProblem fields;  // all but the open ones below
  std::optional<int64_t> N, C, K, G;
  std::array<std::optional<int64_t>, 3> in, filter;
  Pad pad = Pad::kNumbers;
};
Result<PartialProblem> parse_partial(std::string_view text);
// Requires every open field, resolves the padding word and validates.
Result<ConvProblem> complete(const PartialProblem& partial);

// Text form -> checked problem, and back: parse_problem(to_text(p)) == p.
Result<ConvProblem> parse_problem(std::string_view text);
std::string to_text(const ConvProblem& p);

// Logical shapes, as many entries as the tensor has axes.
struct Shape {
  std::array<int64_t, kMaxRank> sizes = {};
  int rank = 0;
  std::span<const int64_t> span() const { return {sizes.data(), static_cast<size_t>(rank)}; }
};
Shape x_shape(const ConvProblem& p);  // also dx
Shape w_shape(const ConvProblem& p);  // also dw
Shape y_shape(const ConvProblem& p);  // also dy
Shape bias_shape(const ConvProblem& p);
DType bias_dtype(const ConvProblem& p);

// 2*N*K*(Z*P*Q)*cpg*(T*R*S): taps on padding count, bias and activation do not.
int64_t flops(const ConvProblem& p);
// The x positions that some output reads, plus w, bias and y, each once, in their dtypes.
int64_t bytes(const ConvProblem& p);
// cpg*T*R*S: the products that one output sums in fprop.
int64_t gemm_k(const ConvProblem& p);

}  // namespace convoy
