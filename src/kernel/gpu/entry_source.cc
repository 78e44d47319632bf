// Spells entries and fills launch arguments.
#include "kernel/gpu/entry_source.h"

#include <algorithm>
#include <charconv>

#include "base/str.h"
#include "kernel/operand.h"

namespace convoy {

// The arguments get a name without commas, which a macro would take for more parameters.
Source entry_source(std::string_view kernel, const Entry& entry) {
  return {.name = std::string(kernel),
          .text = str("#include \"", entry.header,
                      "\"\n\nusing namespace convoy;\nusing EntryArgs = ", entry.args,
                      ";\n\nstatic_assert(sizeof(EntryArgs) == ", entry.args_bytes,
                      ");\n\nCONVOY_KERNEL(", kEntryName, ", ", entry.threads, ", ", entry.blocks,
                      ", EntryArgs) {\n  ", entry.function, "<", entry.config, ">(args);\n}\n"),
          .entry = kEntryName};
}

Elem elem_of(DType dtype) {
  if (dtype == DType::kF16) return Elem::kF16;
  if (dtype == DType::kBf16) return Elem::kBf16;
  return dtype == DType::kTf32 ? Elem::kTf32 : Elem::kF32;
}

EpilogueKind epilogue_of(const ConvProblem& p) {
  constexpr Act kActs[] = {Act::kNone, Act::kRelu, Act::kRelu6,
                           Act::kSilu, Act::kGelu, Act::kHardswish};
  EpilogueKind kind;
  if (p.bias != BiasType::kNone) {
    kind.bias = bias_dtype(p) == DType::kF32 ? BiasKind::kF32 : BiasKind::kElement;
  }
  kind.act = kActs[static_cast<int>(p.activation)];
  return kind;
}

std::string spell(Elem elem) {
  constexpr const char* kNames[] = {"kF32", "kTf32", "kF16", "kBf16"};
  return str("Elem::", kNames[static_cast<u32>(elem)]);
}

std::string spell(EpilogueKind epilogue) {
  constexpr const char* kBias[] = {"kNone", "kElement", "kF32"};
  constexpr const char* kActs[] = {"kNone", "kRelu", "kRelu6", "kSilu", "kGelu", "kHardswish"};
  return str("{BiasKind::", kBias[static_cast<u32>(epilogue.bias)],
             ", Act::", kActs[static_cast<u32>(epilogue.act)], "}");
}

int compute_capability(const DeviceInfo& device) {
  constexpr std::string_view kPrefix = "sm_";
  const std::string_view arch = device.arch;
  int value = 0;
  if (arch.substr(0, kPrefix.size()) == kPrefix) {
    std::from_chars(arch.data() + kPrefix.size(), arch.data() + arch.size(), value);
  }
  return value;
}

ConvArgs conv_args(const ConvProblem& p, const RunArgs& operands) {
  ConvArgs args = {};
  args.x = operands.x.data;
  args.w = operands.w.data;
  args.bias = operands.bias.data;
  args.y = operands.y.data;
  args.bias_stride = operands.bias.empty() ? 0 : operands.bias.strides[0];
  IgemmSizes& s = args.sizes;
  s.N = p.N;
  s.C = p.C;
  s.K = p.K;
  s.G = p.G;
  for (int d = 0; d < 3; ++d) {
    s.in[d] = p.in[d];
    s.filter[d] = p.filter[d];
    s.out[d] = out_extent(p, d);
    s.stride[d] = p.stride[d];
    s.pad_lo[d] = p.pad_lo[d];
    s.dilation[d] = p.dilation[d];
  }
  const auto copy_strides = [](const TensorView& view, i64(&to)[5]) {
    const auto operand_of = operand<const float>(view);
    std::copy(operand_of.stride.begin(), operand_of.stride.end(), to);
  };
  copy_strides(operands.x, s.x_stride);
  copy_strides(operands.w, s.w_stride);
  copy_strides(operands.y, s.y_stride);
  return args;
}

}  // namespace convoy
