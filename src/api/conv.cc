// Conv1d, Conv2d, Conv3d on views: the call's shapes become a problem, a plan and an output.
#include <convoy/convoy.h>

#include "base/str.h"

namespace convoy {
namespace {

std::string shape_of(const TensorView& v) {
  return shape_text({v.sizes.data(), static_cast<size_t>(v.rank)});
}

// Channels-last only where the strides say so and channels-first is not true as well.
Layout layout_of(const TensorView& x) {
  const auto fits = [&](Layout layout) {
    const TensorView p =
        packed(x.data, x.dtype, {x.sizes.data(), static_cast<size_t>(x.rank)}, layout);
    for (int i = 0; i < x.rank; ++i) {
      if (x.sizes[i] != 1 && p.strides[i] != x.strides[i]) return false;
    }
    return true;
  };
  if (fits(Layout::kNchw)) return Layout::kNchw;
  const bool channels_inner = x.strides[1] == 1 && x.sizes[1] != 1 &&
                              (x.strides[x.rank - 1] != 1 || x.sizes[x.rank - 1] == 1);
  return fits(Layout::kNhwc) || channels_inner ? Layout::kNhwc : Layout::kNchw;
}

Status check_rank(const char* what, const TensorView& v, int rank, int expected) {
  if (v.rank == expected) return {};
  return invalid(str("conv", rank, "d: ", what, " of shape ", shape_of(v), " has ", v.rank,
                     " axes, expected ", expected, "; reshape it"));
}

Status check_channels(const TensorView& x, const TensorView& w, int rank, int64_t groups) {
  const std::string what = str("conv", rank, "d: ");
  const int64_t C = x.sizes[1], K = w.sizes[0];
  if (groups < 1) {
    return invalid(str(what, "groups=", groups,
                       " must be at least 1; choose a divisor of the "
                       "channels"));
  }
  for (const auto& [side, count] : {std::pair{"input", C}, std::pair{"output", K}}) {
    if (count % groups != 0) {
      return invalid(str(what, count, " ", side, " channels are not divisible by ", groups,
                         " groups; choose groups that divide ", count));
    }
  }
  if (w.sizes[1] == C / groups) return {};
  TensorView expected = w;
  expected.sizes[1] = C / groups;
  if (groups == 1) {
    return invalid(str(what, "input has ", C, " channels, weight expects ", w.sizes[1],
                       "; weight of shape ", shape_of(w), " should be ", shape_of(expected)));
  }
  return invalid(str(what, "weight of shape ", shape_of(w), " has ", w.sizes[1],
                     " input channels per group where ", C / groups, " are expected (", C,
                     " channels in ", groups, " groups); pass weight of shape ",
                     shape_of(expected)));
}

Status check_dtypes(const TensorView& x, const TensorView& w, const TensorView& bias, int rank) {
  const std::string what = str("conv", rank, "d: ");
  if (w.dtype != x.dtype) {
    return invalid(str(what, "input x is ", name(x.dtype), " but weight w is ", name(w.dtype),
                       "; convert one of them"));
  }
  if (w.device != x.device || (!bias.empty() && bias.device != x.device)) {
    return invalid(str(what, "input, weight and bias must lie on one device; copy them to it"));
  }
  if (bias.empty()) return {};
  if (bias.dtype != x.dtype && bias.dtype != DType::kF32) {
    return invalid(str(what, "bias is ", name(bias.dtype), " but input is ", name(x.dtype),
                       "; convert bias to ", name(x.dtype), " or f32"));
  }
  if (bias.rank != 1 || bias.sizes[0] != w.sizes[0]) {
    return invalid(str(what, "bias has shape ", shape_of(bias), ", expected ", w.sizes[0],
                       " (one value per output channel); reshape it"));
  }
  return {};
}

Result<Device> device_of(const TensorView& view) {
  constexpr const char* kNames[] = {"cpu", "cuda", "hip"};
  const std::string name = kNames[static_cast<int>(view.device.backend)];
  return device(view.device.backend == Backend::kCpu ? name : str(name, ':', view.device.index));
}

}  // namespace

template <int Rank>
Result<ConvProblem> problem_of(const ConvOptions<Rank>& options, const TensorView& x,
                               const TensorView& w, const TensorView& bias) {
  if (Status s = check_rank("input", x, Rank, Rank + 2); !s.ok()) return s;
  if (Status s = check_rank("weight", w, Rank, Rank + 2); !s.ok()) return s;
  if (Status s = check_channels(x, w, Rank, options.groups); !s.ok()) return s;
  if (Status s = check_dtypes(x, w, bias, Rank); !s.ok()) return s;
  ConvProblem p{.rank = Rank, .dtype = x.dtype};
  p.N = x.sizes[0];
  p.C = x.sizes[1];
  p.K = w.sizes[0];
  p.G = options.groups;
  for (int i = 0; i < Rank; ++i) {
    const int d = p.first_axis() + i;
    p.in[d] = x.sizes[2 + i];
    p.filter[d] = w.sizes[2 + i];
    p.stride[d] = options.stride[i];
    p.dilation[d] = options.dilation[i];
    p.pad_lo[d] = options.padding[i];
    p.pad_hi[d] = options.padding_end[i];
  }
  p.layout = layout_of(x);
  p.activation = options.activation;
  if (!bias.empty()) p.bias = bias.dtype == x.dtype ? BiasType::kSame : BiasType::kF32;
  if (Status s = validate(p); !s.ok()) return s;
  return p;
}

template <int Rank>
Result<Tensor> Conv<Rank>::operator()(const TensorView& x, const TensorView& w,
                                      const TensorView& bias) const {
  const Result<ConvProblem> problem = problem_of(options_, x, w, bias);
  if (!problem) return problem.status();
  const Result<Device> where = device_of(x);
  if (!where) return where.status();
  const Result<Plan> chosen = plan(*problem, *where);
  if (!chosen) return chosen.status();
  Result<Tensor> y = allocate(*where, x.dtype, y_shape(*problem).span(), problem->layout);
  if (!y) return y.status();
  Result<Buffer> workspace = Buffer::allocate(*where, chosen->workspace_bytes());
  if (!workspace) return workspace.status();
  const Status ran = chosen->run({.x = x,
                                  .w = w,
                                  .bias = bias,
                                  .y = y->view,
                                  .workspace = workspace->data(),
                                  .workspace_bytes = workspace->bytes()});
  if (!ran.ok()) return ran;
  if (Status s = synchronize(*where); !s.ok()) return s;  // the workspace ends here
  return y;
}

template class Conv<1>;
template class Conv<2>;
template class Conv<3>;
template Result<ConvProblem> problem_of<1>(const ConvOptions<1>&, const TensorView&,
                                           const TensorView&, const TensorView&);
template Result<ConvProblem> problem_of<2>(const ConvOptions<2>&, const TensorView&,
                                           const TensorView&, const TensorView&);
template Result<ConvProblem> problem_of<3>(const ConvOptions<3>&, const TensorView&,
                                           const TensorView&, const TensorView&);

}  // namespace convoy
