// One exact integer case: operands between guard bands, and the values that a run must give.
#include "bench/exact_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace convoy::bench {
namespace {

constexpr int64_t kGuardBytes = 256;

// One of each kind that a kernel may treat apart: depthwise of several filters, multipliers, small,
// odd and wide groups, 1x1, dense, strides, dilation, unequal padding, 1D and 3D.
constexpr CaseText kCases[] = {
    {"conv1d fprop f32 n1 c64 k64 g64 w32 s4 causal", true},
    {"conv1d fprop f32 n2 c12 k12 g12 w40 s31 pad15", false},
    {"conv1d fprop f32 n1 c16 k16 g4 w21 s5 stride2 pad2:1 bias", false},
    {"conv2d fprop f32 n2 c24 k24 g24 h9 w11 r3 s3 pad1 bias relu", false},
    {"conv2d fprop f32 n1 c19 k19 g19 h10 w13 r3 s3 stride2 pad1", false},
    {"conv2d fprop f32 n1 c16 k16 g16 h11 w8 r5 s5 stride2 pad1:2 bias relu6", false},
    {"conv2d fprop f32 n1 c33 k33 g33 h9 w20 r7 s7 pad3", false},
    {"conv2d fprop f32 n1 c4 k4 g4 h9 w9 r3 s3 pad2 dil2", false},
    {"conv2d fprop f32 n1 c6 k12 g6 h7 w7 r3 s3 pad1", false},
    {"conv2d fprop f32 n1 c5 k15 g5 h6 w18 r3 s3 pad1 bias", false},
    {"conv2d fprop f32 n2 c32 k32 g16 h7 w9 r3 s3 pad1", false},
    {"conv2d fprop f32 n1 c9 k9 g3 h8 w8 r3 s3 pad1 bias", false},
    {"conv2d fprop f32 n1 c16 k16 g4 h14 w14 r3 s3 pad1 relu", false},
    {"conv2d fprop f32 n1 c12 k18 g3 h7 w8 r3 s3 stride2 pad1", false},
    {"conv2d fprop f32 n1 c32 k32 g4 h7 w7 r3 s3 pad1", false},
    {"conv2d fprop f32 n1 c64 k64 g2 h5 w6 r3 s3 pad1", false},
    {"conv2d fprop f32 n2 c24 k48 g3 h6 w6 r1 s1 bias", false},
    {"conv2d fprop f32 n1 c5 k7 h6 w7 r3 s3 pad1", false},
    {"conv2d fprop f32 n1 c3 k3 g3 h9 w5 r7 s2 stride2x1 pad3x0 dil1x2", false},
    {"conv3d fprop f32 n1 c8 k8 g8 d5 h6 w9 t3 r3 s3 pad1", false},
    {"conv3d fprop f32 n1 c8 k8 g2 d5 h5 w7 t3 r1 s1 pad1x0x0", false},
    {"conv3d fprop f32 n2 c4 k6 g2 d4 h5 w6 t2 r3 s3 stride2x1x2 pad1x1x0 dil1x2x1 bias", false},
};

// Field case F20: known before any of our code ran.
constexpr std::pair<const char*, Triple> kF20[] = {{"y", {197, 1955, 46}},
                                                   {"dx", {80, 1010, 17}},
                                                   {"dw", {477, 4478, 57}},
                                                   {"db", {-21, -164, 23}}};

std::vector<float> fill(std::string_view operand, int64_t elements) {
  const auto [s, m] = operand == "x"      ? std::pair{0U, 5U}
                      : operand == "w"    ? std::pair{1U, 3U}
                      : operand == "bias" ? std::pair{2U, 2U}
                                          : std::pair{3U, 2U};
  std::vector<float> values(static_cast<size_t>(elements));
  for (uint32_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(fill_value(s, m, i));
  return values;
}

std::span<const int64_t> sizes_of(const TensorView& view) {
  return {view.sizes.data(), static_cast<size_t>(view.rank)};
}

// The values of a view in logical row-major order.
Result<std::vector<float>> values_of(const TensorView& view) {
  std::vector<float> values(static_cast<size_t>(view.elements()));
  if (Status s = copy(view, packed(values.data(), DType::kF32, sizes_of(view))); !s.ok()) return s;
  return values;
}

Result<std::string> reference_of(Pass pass) {
  for (const KernelFacts& facts : kernels()) {
    const bool computes =
        std::find(facts.passes.begin(), facts.passes.end(), pass) != facts.passes.end();
    if (facts.reference && facts.backend == Backend::kCpu && computes) return facts.name;
  }
  return internal(fmt::format("selftest: no reference kernel computes {}; report it", name(pass)));
}

bool is_nan_filled(const std::byte* from, const std::byte* to) {
  return std::all_of(from, to, [](std::byte b) { return b == std::byte{0xff}; });
}

}  // namespace

int fill_value(uint32_t s, uint32_t m, uint32_t i) {
  const uint32_t j = i + 1000003U * s;
  const uint32_t v = j * 747796405U + 2891336453U;
  const uint32_t u = ((v >> ((v >> 28) + 4)) ^ v) * 277803737U;
  const uint32_t r = (u >> 22) ^ u;
  return static_cast<int>(r % (2 * m + 1)) - static_cast<int>(m);
}

Triple triple_of(const std::vector<float>& values) {
  Triple t;
  for (size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) return {};
    const auto v = static_cast<int64_t>(values[i]);
    t.sum += v;
    t.weighted += (static_cast<int64_t>(i % 13) + 1) * v;
    t.largest = std::max(t.largest, std::abs(v));
  }
  return t;
}

std::span<const CaseText> case_texts() {
  return kCases;
}

ConvProblem variant_of(const CaseText& text, Pass pass, DType dtype, Layout layout) {
  ConvProblem p = *parse_problem(text.problem);
  p.pass = pass;
  p.dtype = dtype;
  p.layout = layout;
  if (pass != Pass::kFprop) {
    p.activation = Activation::kNone;
    p.bias = pass == Pass::kWgrad ? BiasType::kSame : BiasType::kNone;
  }
  return p;
}

Result<ExactCase> ExactCase::make(const CaseText& text, const ConvProblem& problem,
                                  const Device& device) {
  ExactCase made;
  made.problem_ = problem;
  made.f20_ = text.field_case_f20;
  const bool on_cpu = device.info().id.backend == Backend::kCpu;
  const Result<Device> host = on_cpu ? device : convoy::device("cpu");
  if (!host) return host.status();
  for (const Operand& operand : operands(problem)) {
    const int64_t bytes = padded_bytes(operand) + 2 * kGuardBytes;
    Result<Buffer> buffer = Buffer::allocate(*host, static_cast<size_t>(bytes));
    if (!buffer) return buffer.status();
    auto* const memory = static_cast<std::byte*>(buffer->data());
    fill_nan(memory, bytes);
    TensorView& view = made.args_.*operand.view;
    view = place(operand, problem, memory + kGuardBytes);
    made.buffers_.push_back(*std::move(buffer));
    made.places_.push_back({operand, memory, static_cast<size_t>(bytes), {}});
    if (device.info().id != host->info().id) {
      Result<Buffer> there = Buffer::allocate(device, static_cast<size_t>(bytes));
      if (!there) return there.status();
      made.places_.back().on_device = *std::move(there);
    }
    if (operand.output) {
      made.outputs_.push_back({operand, memory, {}});
      continue;
    }
    std::vector<float> values = fill(operand.name, view.elements());
    const TensorView from = packed(values.data(), DType::kF32, sizes_of(view));
    if (Status s = copy(from, view); !s.ok()) return s;
  }
  const Result<std::string> reference = reference_of(problem.pass);
  if (!reference) return reference.status();
  const Result<Plan> plan = convoy::plan(problem, *host, {.kernel = *reference});
  if (!plan) return plan.status();
  if (Status s = made.run(*plan, *host, false); !s.ok()) return s;
  for (Output& output : made.outputs_) {
    Result<std::vector<float>> values = values_of(made.args_.*output.operand.view);
    if (!values) return values.status();
    output.expected = *std::move(values);
  }
  return made;
}

Status ExactCase::run(const Plan& plan, const Device& device, bool pack_ahead) {
  for (const Output& output : outputs_)
    fill_nan(output.memory + kGuardBytes, padded_bytes(output.operand));
  if (device.info().id.backend != Backend::kCpu) return run_there(plan, device);
  RunArgs args = args_;
  if (pack_ahead) {
    const Result<PackedWeights> packed = plan.pack_weights(args.w);
    if (!packed) return packed.status();
    args.packed = &*packed;
    return plan.run(args);
  }
  const Result<Buffer> workspace = Buffer::allocate(device, plan.workspace_bytes());
  if (!workspace) return workspace.status();
  args.workspace = workspace->data();
  args.workspace_bytes = workspace->bytes();
  return plan.run(args);
}

Status ExactCase::run_there(const Plan& plan, const Device& device) {
  RunArgs args = args_;
  for (const Place& place : places_) {
    Status s = copy_bytes(device, place.on_device.data(), place.memory, place.bytes);
    if (!s.ok()) return s;
    TensorView& view = args.*place.operand.view;
    view.data = static_cast<std::byte*>(place.on_device.data()) + kGuardBytes;
    view.device = device.info().id;
  }
  const Result<Buffer> workspace = Buffer::allocate(device, plan.workspace_bytes());
  if (!workspace) return workspace.status();
  args.workspace = workspace->data();
  args.workspace_bytes = workspace->bytes();
  if (Status s = plan.run(args); !s.ok()) return s;
  for (const Place& place : places_) {
    Status s = copy_bytes(device, place.memory, place.on_device.data(), place.bytes);
    if (!s.ok()) return s;
  }
  return {};
}

std::string ExactCase::compare(const Output& output) const {
  const TensorView& view = args_.*output.operand.view;
  const std::byte* const data = output.memory + kGuardBytes;
  const std::byte* const data_end = data + view.elements() * size_of(view.dtype);
  const std::byte* const end = data + padded_bytes(output.operand) + kGuardBytes;
  const char* const what = output.operand.name;
  if (!is_nan_filled(output.memory, data) || !is_nan_filled(data_end, end)) {
    return fmt::format("writes outside {}", what);
  }
  const Result<std::vector<float>> values = values_of(view);
  if (!values) return values.status().message();
  for (size_t i = 0; i < values->size(); ++i) {
    if ((*values)[i] == output.expected[i]) continue;
    return fmt::format("{}[{}] is {}, expected {}", what, i, (*values)[i], output.expected[i]);
  }
  for (const auto& [operand, known] : kF20) {
    if (f20_ && operand == std::string_view(what) && triple_of(*values) != known) {
      return fmt::format("{} misses the known sums of field case F20", what);
    }
  }
  return {};
}

Result<std::string> ExactCase::fault(const Plan& plan, const Device& device, bool pack_ahead) {
  if (Status s = run(plan, device, pack_ahead); !s.ok()) return s;
  for (const Output& output : outputs_) {
    if (std::string found = compare(output); !found.empty()) {
      return to_text(problem_) + ": " + found;
    }
  }
  return std::string();
}

}  // namespace convoy::bench
