// The contract of a kernel: plain functions over a problem, testable without a device, until
// bind().
#pragma once

#include <convoy/device.h>
#include <convoy/problem.h>
#include <convoy/run_args.h>

#include <memory>
#include <optional>
#include <string>

#include "jit/source.h"

namespace convoy {

// Why a kernel does not take a problem: one clause, no full stop.
struct Decline {
  std::string reason;
};

// What configure() fixed. `values` belong to the family; `text` is how explain prints them.
struct Config {
  std::string text;
  std::array<int, 6> values = {};
  int64_t executed_flops = 0;
};

// Which operand views a bound kernel can walk; the general kernel takes the rest.
enum class Views {
  kAny,
  kUnitInner,  // x and y have stride 1 along the innermost axis of the problem's layout
  kPacked16,   // x, w and y lie gapless in the problem's layout, at multiples of 16 bytes
};

// A bound kernel. run() neither allocates nor locks; `packed` is what pack() wrote.
struct Launchable {
  std::shared_ptr<const void> state;
  size_t packed_bytes = 0;  // 0: weights are read as they are and pack is null
  Views views = Views::kAny;
  void (*pack)(const void* state, const TensorView& w, void* packed) = nullptr;
  Status (*run)(const void* state, const RunArgs& args, const void* packed,
                Stream stream) = nullptr;
};

struct Kernel {
  std::optional<Decline> (*declines)(const ConvProblem&, const DeviceInfo&);
  Config (*configure)(const ConvProblem&, const DeviceInfo&);
  double (*estimate_us)(const ConvProblem&, const Config&, const DeviceInfo&);
  Result<Launchable> (*bind)(const ConvProblem&, const Config&, const Device&);
  // What bind() compiles, for kernels that are compiled at run time; null for the others.
  Source (*source)(const ConvProblem&, const Config&) = nullptr;
};

// One row of manifest/kernels.yaml next to its code; the table is generated.
struct RosterRow {
  const char* name;
  const Kernel* kernel;
  Backend backend;
  unsigned passes;   // bit 1 << Pass
  unsigned dtypes;   // bit 1 << DType
  unsigned layouts;  // bit 1 << Layout
  bool reference;
};
std::span<const RosterRow> roster();

}  // namespace convoy
