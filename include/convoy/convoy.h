// Convoy: grouped convolution in 1D, 2D and 3D. This header brings the whole C++ API.
#pragma once

#include <convoy/device.h>
#include <convoy/plan.h>
#include <convoy/problem.h>
#include <convoy/status.h>
#include <convoy/tensor.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace convoy {

const char* version();  // "0.1.0"

// "cpu" or "cuda[:i]"; later "hip[:i]". kUnavailable names what is missing: the driver, a device of
// that index. CONVOY_CPU_ISA caps the instruction tier, CONVOY_NUM_THREADS the threads,
// CONVOY_INDEX_LIMIT the 32-bit offsets; a bad value is kInvalid.
Result<Device> device(std::string_view name = "cpu");
// The CPU and what GPUs there are.
std::vector<Device> devices();

// Where this process keeps calibrations and compiled kernels, and how much: CONVOY_CACHE_DIR (else
// $XDG_CACHE_HOME/convoy, ~/.cache/convoy; empty: nowhere) and CONVOY_CACHE_BYTES (256 MiB).
struct CacheSettings {
  std::string folder;
  int64_t limit_bytes = 0;
};
Result<CacheSettings> cache_settings();

// Kernels compiled for GPUs that are on disk, least recently used first.
struct CachedKernel {
  std::string key, kernel, arch;
  int64_t bytes = 0;
};
std::vector<CachedKernel> cached_kernels();
Status clear_cached_kernels();

// Owned memory and the view of it.
struct Tensor {
  Buffer buffer;
  TensorView view;
};
Result<Tensor> allocate(const Device& device, DType dtype, std::span<const int64_t> sizes,
                        Layout layout = Layout::kNchw);

// Element-wise copy between views of one shape: any strides, any dtypes, values rounded to nearest
// even, on any devices. Device memory is moved through the host unless both views lie in the same
// gapless order; then, too, the copy waits for the default stream and is complete on return. Gaps
// of a device view keep their bytes, but are written: no other work may write them meanwhile.
Status copy(const TensorView& from, const TensorView& to);

// How a result compares with the f64 reference on the same data (contract: |y-ref| within
// L*((gemm_k+2)*2^-24 + m)*(sum|x*w|+|b|) + u*|ref| + tiny).
struct CheckReport {
  double max_abs_err = 0;
  double max_rel_err = 0;
  bool ok = false;
};
// Operands may lie on any device; that device judges what it can, the CPU the rest.
Result<CheckReport> check(const ConvProblem& problem, const RunArgs& args, const Device& device);

template <int Rank>
struct ConvOptions {
  std::array<int64_t, Rank> stride = ones();
  std::array<int64_t, Rank> padding = {};
  std::array<int64_t, Rank> dilation = ones();
  int64_t groups = 1;
  Activation activation = Activation::kNone;
  std::array<int64_t, Rank> padding_end = padding;  // per side: `padding` is the begin

  static constexpr std::array<int64_t, Rank> ones() {
    std::array<int64_t, Rank> a{};
    a.fill(1);
    return a;
  }
};

// PyTorch's conv{1,2,3}d on views: shapes, dtype and memory format come from the call; the output
// is channels-last where x is. x and w may have any strides. Runs where x lies, and is complete on
// return.
template <int Rank>
class Conv {
 public:
  explicit Conv(ConvOptions<Rank> options = {}) : options_(options) {}
  Result<Tensor> operator()(const TensorView& x, const TensorView& w,
                            const TensorView& bias = {}) const;

 private:
  ConvOptions<Rank> options_;
};
using Conv1d = Conv<1>;
using Conv2d = Conv<2>;
using Conv3d = Conv<3>;

// The problem that a call with these operands asks for, shape errors named (given and expected).
template <int Rank>
Result<ConvProblem> problem_of(const ConvOptions<Rank>& options, const TensorView& x,
                               const TensorView& w, const TensorView& bias = {});

}  // namespace convoy
