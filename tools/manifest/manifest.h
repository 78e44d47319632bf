// The manifest as data: what ops, kernels, machines and workloads it declares, read and validated.
#pragma once

#include <convoy/plan.h>
#include <convoy/problem.h>

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "manifest/value.h"

namespace convoy::manifest {

struct File {
  std::string path;  // relative to the manifest folder, "ops/conv.yaml"
  std::string text;
};

// A word of the text and where it stands.
struct Located {
  std::string text;
  int line = 0;
};

enum class OpStatus { kSpecOnly, kExperimental, kImplemented };
const char* name(OpStatus status);
const char* name(Backend backend);

struct OpDevice {
  Backend backend;
  OpStatus status;
  int line = 0;
  // Dtype or operand option -> "file:Suite.Name", the test that covers it on this device.
  std::vector<std::pair<std::string, Located>> tests;
};

struct Op {
  std::string name;
  int line = 0;
  int rank = 2;
  Pass pass = Pass::kFprop;
  struct Operand {
    std::string name;
    int line = 0;
    std::vector<Located> shape;  // one formula per axis
  };
  std::vector<Operand> operands;
  std::vector<DType> dtypes;
  std::vector<Layout> layouts;
  std::vector<BiasType> biases;
  std::vector<Activation> activations;
  std::vector<std::pair<std::string, Located>> params;  // token -> default
  std::vector<Located> rules;                           // all hold exactly for a legal problem
  std::vector<std::pair<std::string, Located>> shape;   // Z, P, Q -> formula
  Located flops, bytes;
  std::vector<OpDevice> devices;
};

struct KernelRow {
  KernelFacts facts;
  std::string arch;
  int line = 0;
};

struct WorkloadRow {
  std::string name;
  Located problem;  // as written
  std::optional<ConvProblem> parsed;
  std::string model;
  std::vector<std::string> suites;
  std::string file;
  int line = 0;
};

struct Manifest {
  std::vector<Op> ops;
  std::vector<KernelRow> kernels;
  std::vector<WorkloadRow> workloads;
};

inline constexpr std::string_view kOpsFile = "ops/conv.yaml";
inline constexpr std::string_view kKernelsFile = "kernels.yaml";
inline constexpr std::string_view kMachinesFile = "machines.yaml";
inline constexpr std::string_view kWorkloadsFolder = "workloads";

// "none", "bias", "bias:f32": how the manifest spells what follows the text form's token.
const char* name(BiasType bias);

// The files of a manifest folder, workloads in the order of their names.
Result<std::vector<File>> load(const std::string& folder);

// Checks form and words of every file and fills what is sound.
Manifest read(std::span<const File> files, std::vector<Fault>& faults);

// The manifest against itself and against `code`, the facts of the kernels in this build. `root` is
// the checkout that holds tests/ and bench/records/, or empty: then the evidence for `implemented`
// is not looked for. Faults in the order of the files. The checks against code wait until the form
// of every file is right: one slip gives one fault, not a thousand that follow from it.
std::vector<Fault> validate(std::span<const File> files, std::span<const KernelFacts> code,
                            const std::string& root);
// The same for a folder; its parent is the root when it holds a folder tests/.
Result<std::vector<Fault>> validate(const std::string& folder, std::span<const KernelFacts> code);

}  // namespace convoy::manifest
