// One Conv node of a model: planned, timed warm, and checked against the f64 reference.
#include "onnx/measure_conv.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <random>
#include <vector>

namespace convoy::cli {
namespace {

// Fills a view with values from [-1, 1), scaled, the same on every machine.
Status fill_random(const TensorView& view, uint32_t seed, float scale) {
  const auto n = static_cast<size_t>(view.elements());
  std::mt19937 engine(seed);
  std::vector<float> values(n);
  for (float& v : values)
    v = scale * (static_cast<float>(engine() >> 8) * 0x1p-23f - 1.0f);
  return copy(
      packed(values.data(), DType::kF32, {view.sizes.data(), static_cast<size_t>(view.rank)}),
      view);
}

// Median of at least 5 runs and about 50 ms, after one that warms up.
Result<double> time_us(const Plan& plan, const RunArgs& args, const Device& device) {
  constexpr double kTotalUs = 50e3;
  constexpr size_t kLeast = 5, kMost = 1000;
  using Clock = std::chrono::steady_clock;
  if (Status s = plan.run(args); !s.ok()) return s;
  if (Status s = synchronize(device); !s.ok()) return s;
  std::vector<double> samples;
  double spent = 0;
  while (samples.size() < kLeast || (spent < kTotalUs && samples.size() < kMost)) {
    const auto begin = Clock::now();
    if (Status s = plan.run(args); !s.ok()) return s;
    if (Status s = synchronize(device); !s.ok()) return s;
    samples.push_back(std::chrono::duration<double, std::micro>(Clock::now() - begin).count());
    spent += samples.back();
  }
  const auto middle = samples.begin() + static_cast<long>(samples.size() / 2);
  std::nth_element(samples.begin(), middle, samples.end());
  return *middle;
}

}  // namespace

// Tensors of the problem and the f64 copies of the check.
Status ConvMeasurer::check_memory(const OnnxConv& conv) const {
  const ConvProblem& p = conv.problem;
  double needed = 0;
  for (const Shape& shape : {x_shape(p), w_shape(p), y_shape(p)}) {
    double elements = 1;
    for (const int64_t size : shape.span())
      elements *= static_cast<double>(size);
    needed += elements * (size_of(p.dtype) + static_cast<double>(sizeof(double)));
  }
  const auto available = static_cast<double>(device_.info().memory_bytes);
  if (available <= 0 || needed <= available) return {};
  return unavailable(fmt::format(
      "audit: node '{}' ({}) needs {:.1f} GiB, {} has {:.1f}; use a "
      "smaller --batch or --dim",
      conv.node, to_text(p), needed * 0x1p-30, device_.info().name, available * 0x1p-30));
}

// The model's values, or random ones of the usual size for weights that it computes at run time.
Result<Tensor> ConvMeasurer::operand(const std::shared_ptr<const OnnxTensor>& values,
                                     const Shape& shape, const ConvProblem& p) const {
  Result<Tensor> tensor = allocate(device_, p.dtype, shape.span());
  if (!tensor) return tensor;
  Status s;
  if (values) {
    s = copy_bytes(device_, tensor->buffer.data(), values->bytes.data(), values->bytes.size());
  } else {
    const float scale = 1 / std::sqrt(static_cast<float>(gemm_k(p)));
    s = fill_random(tensor->view, 2, scale);
  }
  if (!s.ok()) return s;
  return tensor;
}

Result<ConvMeasurement> ConvMeasurer::measure(const OnnxConv& conv) {
  const ConvProblem& p = conv.problem;
  if (Status s = check_memory(conv); !s.ok()) return s;
  Result<Plan> plan = convoy::plan(p, device_, options_);
  if (!plan) return plan.status();
  Result<Tensor> x = allocate(device_, p.dtype, x_shape(p).span(), p.layout);
  if (!x) return x.status();
  if (Status s = fill_random(x->view, 1, 1.0f); !s.ok()) return s;
  Result<Tensor> y = allocate(device_, p.dtype, y_shape(p).span(), p.layout);
  if (!y) return y.status();
  Result<Tensor> w = operand(conv.w, w_shape(p), p);
  if (!w) return w.status();
  RunArgs args{.x = x->view, .w = w->view, .y = y->view};
  Tensor bias;
  if (p.bias != BiasType::kNone) {
    Result<Tensor> values = operand(conv.bias, bias_shape(p), p);
    if (!values) return values.status();
    bias = *std::move(values);
    args.bias = bias.view;
  }
  Result<PackedWeights> packed_w = plan->pack_weights(w->view);
  if (packed_w) args.packed = &*packed_w;
  // NaN in every dtype: an element that the kernel leaves out fails the check.
  const std::vector<std::byte> nan(y->buffer.bytes(), std::byte{0xff});
  Status poisoned = copy_bytes(device_, y->buffer.data(), nan.data(), nan.size());
  if (!poisoned.ok()) return poisoned;
  if (Status s = plan->run(args); !s.ok()) return s;
  Result<CheckReport> report = check(p, args, device_);
  if (!report) return report.status();
  ConvMeasurement out{plan->kernel(), 0, plan->explain().limit.us, *report};
  const auto [timing, fresh] = time_us_.try_emplace(to_text(p), 0.0);
  if (fresh) {
    Result<double> measured = time_us(*plan, args, device_);
    if (!measured) return measured.status();
    timing->second = *measured;
  }
  out.time_us = timing->second;
  return out;
}

}  // namespace convoy::cli
