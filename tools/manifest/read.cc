// YAML -> Manifest: the schema of ops, kernels and workloads.
#include <set>

#include "base/int_math.h"
#include "base/str.h"
#include "manifest/fields.h"
#include "manifest/machines.h"
#include "manifest/manifest.h"

namespace convoy::manifest {
namespace {

using Kind = Value::Kind;

const std::vector<Pass> kPasses = {Pass::kFprop, Pass::kDgrad, Pass::kWgrad};
const std::vector<Layout> kLayouts = {Layout::kNchw, Layout::kNhwc};
const std::vector<DType> kDTypes = {DType::kF32, DType::kTf32, DType::kF16, DType::kBf16};
const std::vector<Backend> kBackends = {Backend::kCpu, Backend::kCuda, Backend::kHip};
constexpr std::string_view kSuites[] = {"smoke",  "mobilenet",  "convnext", "resnext",
                                        "regnet", "shufflenet", "video",    "audio",
                                        "dense",  "tileops"};

// The entries of the one list that a file holds under `key`.
std::vector<const Value*> entries(const Value& root, std::string_view key, const FaultSink& sink) {
  std::vector<const Value*> out;
  const Fields fields(root, std::string(key), {key}, sink);
  const Value* list = fields.need(key, Kind::kSequence);
  if (list == nullptr) return out;
  for (const Value& item : list->items)
    out.push_back(&item);
  return out;
}

bool consists_of(std::string_view text, std::string_view marks) {
  return std::all_of(text.begin(), text.end(), [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
           marks.find(c) != std::string_view::npos;
  });
}

// A name that no earlier entry has; empty at fault.
std::string unique_name(Fields& fields, std::string_view key, std::string_view marks,
                        std::set<std::string>& taken) {
  const Located at = fields.text(key);
  if (at.text.empty()) return {};
  fields.rename(str(fields.what(), " ", at.text));
  if (!consists_of(at.text, marks)) {
    fields.fault(at.line, str("name '", at.text, "' may hold a-z 0-9 and ", marks, " only"));
  }
  if (!taken.insert(at.text).second) {
    fields.fault(at.line, str("name '", at.text, "' stands twice; choose another"));
  }
  return at.text;
}

void read_devices(const Fields& fields, const FaultSink& sink, Op& op) {
  const Value* status = fields.need("status", Kind::kMapping);
  if (status == nullptr) return;
  const Fields devices(*status, fields.what() + " status", {"cpu", "cuda", "hip"}, sink);
  const Value* tests = fields.find("tests");
  std::optional<Fields> tested;
  if (tests != nullptr)
    tested.emplace(*tests, fields.what() + " tests",
                   std::initializer_list<std::string_view>{"cpu", "cuda", "hip"}, sink);
  for (const Backend backend : kBackends) {
    const auto word = devices.word(
        name(backend),
        std::vector{OpStatus::kSpecOnly, OpStatus::kExperimental, OpStatus::kImplemented});
    if (!word) continue;
    OpDevice device{backend, *word, devices.find(name(backend))->line, {}};
    if (tested && tested->find(name(backend)) != nullptr) device.tests = tested->map(name(backend));
    op.devices.push_back(std::move(device));
  }
}

void read_operands(const Fields& fields, const FaultSink& sink, Op& op) {
  const Value* operands = fields.need("operands", Kind::kMapping);
  if (operands == nullptr) return;
  for (size_t i = 0; i < operands->keys.size(); ++i) {
    const Key& key = operands->keys[i];
    const Fields operand(operands->items[i], str(fields.what(), " operand ", key.text),
                         {"role", "shape", "optional"}, sink);
    const Located role = operand.text("role");
    if (role.text != "in" && role.text != "out") {
      operand.fault(role.line, str("role '", role.text, "' must be in or out"));
    }
    operand.flag("optional");
    op.operands.push_back({key.text, key.line, operand.list("shape")});
  }
}

Op read_op(const Value& value, const FaultSink& sink, std::set<std::string>& names) {
  Fields fields(value, "op",
                {"op", "rank", "pass", "operands", "dtypes", "layouts", "bias", "activation",
                 "params", "rules", "shape", "flops", "bytes", "status", "tests"},
                sink);
  Op op{.line = fields.line()};
  op.name = unique_name(fields, "op", "_", names);
  if (const std::optional<int64_t> rank = fields.integer("rank")) {
    if (*rank < 1 || *rank > 3) fields.fault(op.line, str("rank ", *rank, " must be 1, 2 or 3"));
    op.rank = static_cast<int>(std::clamp<int64_t>(*rank, 1, 3));
  }
  op.pass = fields.word("pass", kPasses).value_or(Pass::kFprop);
  read_operands(fields, sink, op);
  op.dtypes = fields.words("dtypes", kDTypes);
  op.layouts = fields.words("layouts", kLayouts);
  op.biases = fields.words("bias", std::vector{BiasType::kNone, BiasType::kSame, BiasType::kF32});
  op.activations = fields.words(
      "activation", std::vector{Activation::kNone, Activation::kRelu, Activation::kRelu6,
                                Activation::kSilu, Activation::kGelu, Activation::kHardswish});
  op.params = fields.map("params");
  op.rules = fields.list("rules");
  op.shape = fields.map("shape");
  op.flops = fields.text("flops");
  op.bytes = fields.text("bytes");
  read_devices(fields, sink, op);
  return op;
}

bool knows_arch(Backend backend, std::string_view arch) {
  if (backend == Backend::kCuda) return arch.starts_with("sm_");
  if (backend == Backend::kHip) return arch.starts_with("gfx");
  constexpr std::string_view kTiers[] = {"baseline", "avx2", "avx512", "avx512bf16", "neon"};
  return std::find(std::begin(kTiers), std::end(kTiers), arch) != std::end(kTiers);
}

KernelRow read_kernel(const Value& value, const FaultSink& sink, std::set<std::string>& names) {
  Fields fields(
      value, "kernel",
      {"name", "backend", "passes", "dtypes", "layouts", "arch", "reference", "flushes_subnormals"},
      sink);
  KernelRow row{.line = fields.line()};
  KernelFacts& facts = row.facts;
  facts.name = unique_name(fields, "name", "_", names);
  facts.backend = fields.word("backend", kBackends).value_or(Backend::kCpu);
  if (!facts.name.empty() && !facts.name.starts_with(str(name(facts.backend), "_"))) {
    fields.fault(row.line, str("a kernel's name begins with its backend '", name(facts.backend),
                               "_'; rename it or correct the backend"));
  }
  facts.passes = fields.words("passes", kPasses);
  facts.dtypes = fields.words("dtypes", kDTypes);
  facts.layouts = fields.words("layouts", kLayouts);
  facts.reference = fields.flag("reference");
  fields.flag("flushes_subnormals");
  const Located arch = fields.text("arch");
  if (!arch.text.empty() && !knows_arch(facts.backend, arch.text)) {
    fields.fault(arch.line, str("arch '", arch.text, "' is no floor of ", name(facts.backend),
                                "; use baseline avx2 avx512 avx512bf16 neon, sm_80, gfx942"));
  }
  row.arch = arch.text;
  return row;
}

// validate() walks every axis of a workload, so a hostile text may not name a huge one.
bool can_be_walked(const ConvProblem& p) {
  constexpr int64_t kMost = int64_t{1} << 24;
  for (int d = 0; d < 3; ++d) {
    const auto taps = checked_product(out_extent(p, d), p.filter[d]);
    if (p.in[d] > kMost || !taps || *taps > kMost) return false;
  }
  return true;
}

WorkloadRow read_workload(const Value& value, const FaultSink& sink, std::set<std::string>& names) {
  Fields fields(value, "workload", {"name", "problem", "model", "suites"}, sink);
  WorkloadRow row{.file = sink.file, .line = fields.line()};
  row.name = unique_name(fields, "name", "-_.", names);
  row.problem = fields.text("problem");
  row.model = fields.text("model").text;
  if (!row.problem.text.empty()) {
    const Result<ConvProblem> parsed = parse_problem(row.problem.text);
    if (!parsed) {
      fields.fault(row.problem.line, parsed.status().message());
    } else if (!can_be_walked(*parsed)) {
      fields.fault(row.problem.line,
                   "an axis has more than 2^24 positions or output times filter taps; use a "
                   "smaller extent");
    } else {
      row.parsed = *parsed;
    }
  }
  if (fields.find("suites") == nullptr) return row;  // then `all` alone has it
  for (const Located& at : fields.list("suites")) {
    if (std::find(std::begin(kSuites), std::end(kSuites), at.text) == std::end(kSuites)) {
      std::string known;
      for (const std::string_view suite : kSuites)
        known += str(known.empty() ? "" : " ", suite);
      fields.fault(at.line, str("unknown suite '", at.text, "'; use ", known,
                                ", every workload is in `all` without saying so"));
    }
    row.suites.push_back(at.text);
  }
  return row;
}

}  // namespace

const char* name(OpStatus status) {
  constexpr const char* kNames[] = {"spec-only", "experimental", "implemented"};
  return kNames[static_cast<int>(status)];
}

const char* name(BiasType bias) {
  constexpr const char* kNames[] = {"none", "bias", "bias:f32"};
  return kNames[static_cast<int>(bias)];
}

const char* name(Backend backend) {
  constexpr const char* kNames[] = {"cpu", "cuda", "hip"};
  return kNames[static_cast<int>(backend)];
}

Manifest read(std::span<const File> files, std::vector<Fault>& faults) {
  Manifest out;
  std::set<std::string> ops, kernels, machines, workloads;
  for (const File& file : files) {
    const FaultSink sink{file.path, faults};
    const std::optional<Value> root = parse_yaml(file.text, sink);
    if (!root) continue;
    if (file.path == kOpsFile) {
      for (const Value* value : entries(*root, "ops", sink))
        out.ops.push_back(read_op(*value, sink, ops));
    } else if (file.path == kKernelsFile) {
      for (const Value* value : entries(*root, "kernels", sink))
        out.kernels.push_back(read_kernel(*value, sink, kernels));
    } else if (file.path == kMachinesFile) {
      for (const Value* value : entries(*root, "machines", sink))
        check_machine(*value, sink, machines);
    } else {
      for (const Value* value : entries(*root, "workloads", sink))
        out.workloads.push_back(read_workload(*value, sink, workloads));
    }
  }
  return out;
}

}  // namespace convoy::manifest
