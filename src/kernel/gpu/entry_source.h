// The main text of a device kernel: one entry that calls a family's function template with its
// configuration; and the pieces that every configuration is spelt with.
#pragma once

#include <convoy/device.h>
#include <convoy/problem.h>
#include <convoy/run_args.h>

#include <string>
#include <string_view>

#include "jit/source.h"
#include "kernel/gpu/device/conv_args.h"
#include "kernel/gpu/device/elem.h"

namespace convoy {

inline constexpr const char* kEntryName = "convoy_main";

struct Entry {
  std::string_view header;    // "kernel/gpu/igemm/igemm.cuh"
  std::string_view function;  // template of one configuration, called as function<config>(args)
  std::string config;         // "IgemmConfig{...}"
  std::string args;           // its struct of arguments and
  size_t args_bytes;          // their size, which the text asserts
  int threads;                // of a block
  int blocks;                 // that must fit a multiprocessor at once
};
Source entry_source(std::string_view kernel, const Entry& entry);

Elem elem_of(DType dtype);
EpilogueKind epilogue_of(const ConvProblem& p);
// As C++ spells the values: "Elem::kF16", "{BiasKind::kNone, Act::kRelu}".
std::string spell(Elem elem);
std::string spell(EpilogueKind epilogue);

// 90 for sm_90; 0 where the device is none of NVIDIA's.
int compute_capability(const DeviceInfo& device);

ConvArgs conv_args(const ConvProblem& p, const RunArgs& operands);

}  // namespace convoy
