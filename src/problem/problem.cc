// Extents, shapes and validation of a ConvProblem.
#include <convoy/problem.h>

#include <algorithm>

#include "base/int_math.h"
#include "base/str.h"

namespace convoy {
namespace {

constexpr char kIn[] = {'d', 'h', 'w'};
constexpr char kFilter[] = {'t', 'r', 's'};
constexpr std::string_view kWhat = "conv problem: ";

Status at_least(const std::string& parameter, int64_t value, int64_t least) {
  if (value >= least) return {};
  return invalid(str(kWhat, parameter, "=", value, " must be at least ", least, "; choose ", least,
                     " or more"));
}

Status validate_axis(const ConvProblem& p, int d) {
  const char axis = kIn[d];
  struct Rule {
    std::string parameter;
    int64_t value;
    int64_t least;
  };
  for (const Rule& rule : {Rule{std::string("input ") + axis, p.in[d], 1},
                           Rule{std::string("filter kernel size ") + kFilter[d], p.filter[d], 1},
                           Rule{std::string("stride_") + axis, p.stride[d], 1},
                           Rule{std::string("dilation dil_") + axis, p.dilation[d], 1},
                           Rule{std::string("padding pad_") + axis + " (begin)", p.pad_lo[d], 0},
                           Rule{std::string("padding pad_") + axis + " (end)", p.pad_hi[d], 0}}) {
    if (Status s = at_least(rule.parameter, rule.value, rule.least); !s.ok()) return s;
  }
  // 128 bits hold every sum and product of two 63-bit numbers.
  __extension__ using Wide = __int128;
  const Wide padded = Wide{p.in[d]} + p.pad_lo[d] + p.pad_hi[d];
  const Wide effective = Wide{p.dilation[d]} * (p.filter[d] - 1) + 1;
  const auto text = [](Wide v) {
    return v > std::numeric_limits<int64_t>::max() ? std::string("more than 2^63")
                                                   : str(static_cast<int64_t>(v));
  };
  if (padded > std::numeric_limits<int64_t>::max()) {
    return invalid(str(kWhat, "padded input along ", axis, " exceeds 2^63 - 1 elements; pad less"));
  }
  if (effective > padded) {
    return invalid(str(kWhat, "filter ", kFilter[d], "=", p.filter[d], " with dil_", axis, "=",
                       p.dilation[d], " has effective kernel ", text(effective),
                       ", which exceeds the padded input ", axis, " of ", text(padded),
                       "; pad more or use a smaller filter"));
  }
  return {};
}

Status validate_groups(const ConvProblem& p) {
  struct Count {
    const char* parameter;
    int64_t value;
    int64_t least;
  };
  for (const Count& c : {Count{"batch n", p.N, 0}, Count{"input channels c", p.C, 1},
                         Count{"output channels k", p.K, 1}, Count{"groups g", p.G, 1}}) {
    if (Status s = at_least(c.parameter, c.value, c.least); !s.ok()) return s;
  }
  struct Channels {
    const char* what;
    char letter;
    int64_t value;
  };
  for (const Channels& c : {Channels{"input", 'c', p.C}, Channels{"output", 'k', p.K}}) {
    if (c.value % p.G != 0) {
      return invalid(str(kWhat, "groups g=", p.G, " must divide ", c.letter, "=", c.value, " (",
                         c.value, " ", c.what, " channels are not divisible by ", p.G,
                         " groups); choose a divisor of ", c.value));
    }
  }
  return {};
}

// Products of extents stay below 2^62 bytes and 2^63 operations, so no later arithmetic wraps. An
// empty batch counts as 1: the strides over the other axes must not wrap either.
Status validate_sizes(const ConvProblem& p) {
  const auto out = [&](int d) { return out_extent(p, d); };
  const int64_t N = std::max<int64_t>(p.N, 1);
  struct Tensor {
    const char* what;
    std::optional<int64_t> elements;
  };
  const auto positions = checked_product(out(0), out(1), out(2));
  const auto taps = checked_product(p.filter[0], p.filter[1], p.filter[2]);
  const auto work = positions && taps ? checked_product(2, N, p.K, *positions, p.cpg(), *taps)
                                      : std::optional<int64_t>();
  for (const Tensor& t :
       {Tensor{"x", checked_product(16, N, p.C, p.in[0], p.in[1], p.in[2])},
        Tensor{"w", checked_product(16, p.K, p.cpg(), p.filter[0], p.filter[1], p.filter[2])},
        Tensor{"y", checked_product(16, N, p.K, out(0), out(1), out(2))},
        Tensor{"the operation count", work}}) {
    if (!t.elements) {
      return invalid(str(kWhat, t.what,
                         " is too large: its size must stay below 2^59 elements or "
                         "2^63 operations; use smaller extents"));
    }
  }
  return {};
}

}  // namespace

const char* name(Pass pass) {
  constexpr const char* kNames[] = {"fprop", "dgrad", "wgrad"};
  return kNames[static_cast<int>(pass)];
}

const char* name(Activation activation) {
  constexpr const char* kNames[] = {"none", "relu", "relu6", "silu", "gelu", "hardswish"};
  return kNames[static_cast<int>(activation)];
}

const char* name(Layout layout) {
  return layout == Layout::kNchw ? "nchw" : "nhwc";
}

// cuDNN API reference, cudnnGetConvolutionNdForwardOutputDim. validate() has refused a filter that
// does not fit: C++ division truncates, so -1 over stride 2 would report an extent of 1, not 0.
int64_t out_extent(const ConvProblem& p, int d) {
  const int64_t room = p.in[d] + p.pad_lo[d] + p.pad_hi[d] - p.dilation[d] * (p.filter[d] - 1) - 1;
  return room / p.stride[d] + 1;
}

Status validate(const ConvProblem& p) {
  if (p.rank < 1 || p.rank > 3) {
    return invalid(str(kWhat, "rank ", p.rank, " must be 1, 2 or 3; use conv1d, conv2d or conv3d"));
  }
  for (int d = 0; d < p.first_axis(); ++d) {
    const bool plain = p.in[d] == 1 && p.filter[d] == 1 && p.stride[d] == 1 && p.pad_lo[d] == 0 &&
                       p.pad_hi[d] == 0 && p.dilation[d] == 1;
    if (!plain) {
      return invalid(str(kWhat, "axis ", kIn[d], " is set but conv", p.rank,
                         "d lacks it; leave its entries at their defaults"));
    }
  }
  if (Status s = validate_groups(p); !s.ok()) return s;
  for (int d = p.first_axis(); d < 3; ++d) {
    if (Status s = validate_axis(p, d); !s.ok()) return s;
  }
  if (Status s = validate_sizes(p); !s.ok()) return s;
  if (p.pass == Pass::kDgrad && p.bias != BiasType::kNone) {
    return invalid(str(kWhat, "bias has no part in dgrad; leave it out"));
  }
  if (p.pass != Pass::kFprop && p.activation != Activation::kNone) {
    return invalid(str(kWhat, "activation ", name(p.activation), " belongs to fprop, not to ",
                       name(p.pass), "; leave it out"));
  }
  if (!has_kernels(p.dtype)) {
    return unsupported(str(to_text(p), ": dtype ", name(p.dtype),
                           " has no kernel yet; convert to f32, f16 or bf16"));
  }
  return {};
}

namespace {

Shape spatial_shape(int64_t outer, int64_t channels, int rank, const std::array<int64_t, 3>& axes) {
  Shape shape{.sizes = {outer, channels}, .rank = 2 + rank};
  for (int i = 0; i < rank; ++i)
    shape.sizes[2 + i] = axes[3 - rank + i];
  return shape;
}

}  // namespace

Shape x_shape(const ConvProblem& p) {
  return spatial_shape(p.N, p.C, p.rank, p.in);
}
Shape w_shape(const ConvProblem& p) {
  return spatial_shape(p.K, p.cpg(), p.rank, p.filter);
}
Shape y_shape(const ConvProblem& p) {
  return spatial_shape(p.N, p.K, p.rank, {out_extent(p, 0), out_extent(p, 1), out_extent(p, 2)});
}
Shape bias_shape(const ConvProblem& p) {
  return {.sizes = {p.K}, .rank = 1};
}
DType bias_dtype(const ConvProblem& p) {
  return p.bias == BiasType::kF32 ? DType::kF32 : p.dtype;
}

}  // namespace convoy
