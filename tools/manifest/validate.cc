// The manifest against itself and against the code.
#include <algorithm>
#include <filesystem>
#include <string_view>
#include <tuple>

#include "base/str.h"
#include "manifest/check_op.h"
#include "manifest/manifest.h"

namespace convoy::manifest {
namespace {

// Equal as sets: the order in the manifest is free.
template <class T>
bool same(std::vector<T> a, std::vector<T> b) {
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  return a == b;
}

void check_kernels(const Manifest& manifest, std::span<const KernelFacts> code,
                   const FaultSink& sink) {
  for (const KernelRow& row : manifest.kernels) {
    const auto found = std::find_if(code.begin(), code.end(),
                                    [&](const auto& f) { return f.name == row.facts.name; });
    if (found == code.end()) {
      sink.add(row.line, str("kernel ", row.facts.name,
                             ": the row has no code in this build; add the kernel or remove the "
                             "row"));
      continue;
    }
    const auto compare = [&](const char* key, bool equal) {
      if (equal) return;
      sink.add(row.line, str("kernel ", row.facts.name, ": ", key,
                             " differ from this build; build again or correct the row"));
    };
    compare("backend", found->backend == row.facts.backend);
    compare("passes", same(found->passes, row.facts.passes));
    compare("dtypes", same(found->dtypes, row.facts.dtypes));
    compare("layouts", same(found->layouts, row.facts.layouts));
    compare("reference", found->reference == row.facts.reference);
  }
  for (const KernelFacts& facts : code) {
    const bool listed =
        std::any_of(manifest.kernels.begin(), manifest.kernels.end(),
                    [&](const KernelRow& row) { return row.facts.name == facts.name; });
    if (!listed) sink.add(0, str("kernel ", facts.name, ": the code has no row; add it"));
  }
}

template <class T>
bool lists(const std::vector<T>& set, T value) {
  return std::find(set.begin(), set.end(), value) != set.end();
}

void check_workload(const WorkloadRow& row, const Manifest& manifest, std::vector<Fault>& faults) {
  if (!row.parsed) return;
  const ConvProblem& p = *row.parsed;
  const FaultSink sink{row.file, faults};
  const auto op = std::find_if(manifest.ops.begin(), manifest.ops.end(),
                               [&](const Op& o) { return o.rank == p.rank && o.pass == p.pass; });
  if (op == manifest.ops.end()) {
    sink.add(row.problem.line, str("workload ", row.name, ": no op of ", kOpsFile, " is conv",
                                   p.rank, "d ", name(p.pass), "; add the op"));
    return;
  }
  const auto need = [&](bool listed, const char* key, const char* value) {
    if (listed) return;
    sink.add(row.problem.line, str("workload ", row.name, ": op ", op->name, " does not list ", key,
                                   " ", value, "; list it or change the workload"));
  };
  need(lists(op->dtypes, p.dtype), "dtype", name(p.dtype));
  need(lists(op->layouts, p.layout), "layout", name(p.layout));
  need(lists(op->biases, p.bias), "bias", name(p.bias));
  need(lists(op->activations, p.activation), "activation", name(p.activation));
}

void check_one_op_each(const Manifest& manifest, const FaultSink& sink) {
  for (size_t i = 0; i < manifest.ops.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      const Op &a = manifest.ops[j], &b = manifest.ops[i];
      if (a.rank != b.rank || a.pass != b.pass) continue;
      sink.add(b.line, str("op ", b.name, ": rank and pass are those of ", a.name,
                           "; keep one op for each"));
    }
  }
}

}  // namespace

std::vector<Fault> validate(std::span<const File> files, std::span<const KernelFacts> code,
                            const std::string& root) {
  std::vector<Fault> faults;
  const Manifest manifest = read(files, faults);
  if (!faults.empty()) return faults;
  check_kernels(manifest, code, {std::string(kKernelsFile), faults});
  const FaultSink ops{std::string(kOpsFile), faults};
  check_one_op_each(manifest, ops);
  for (const Op& op : manifest.ops) {
    check_op(op, manifest.workloads, ops);
    check_evidence(op, manifest, root, ops);
  }
  for (const WorkloadRow& row : manifest.workloads)
    check_workload(row, manifest, faults);
  const auto place = [&](const Fault& fault) {
    const auto file = std::find_if(files.begin(), files.end(),
                                   [&](const File& f) { return f.path == fault.file; });
    return std::tuple(file - files.begin(), fault.line, std::string_view(fault.message));
  };
  std::sort(faults.begin(), faults.end(),
            [&](const Fault& a, const Fault& b) { return place(a) < place(b); });
  return faults;
}

Result<std::vector<Fault>> validate(const std::string& folder, std::span<const KernelFacts> code) {
  const Result<std::vector<File>> files = load(folder);
  if (!files) return files.status();
  std::error_code error;
  const std::filesystem::path parent =
      std::filesystem::absolute(std::filesystem::path(folder), error).lexically_normal() / "..";
  const bool checkout = !error && std::filesystem::is_directory(parent / "tests", error);
  return validate(*files, code, checkout ? parent.string() : std::string());
}

}  // namespace convoy::manifest
