// What a status above spec-only must be able to show: kernels, workloads, tests and records.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "base/str.h"
#include "manifest/check_op.h"

namespace convoy::manifest {
namespace {

namespace fs = std::filesystem;

std::string file_text(const fs::path& path) {
  const std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// Kernel and dtype of every row of every record under `root`.
std::set<std::pair<std::string, std::string>> measured(const std::string& root) {
  std::set<std::pair<std::string, std::string>> out;
  std::error_code error;
  for (fs::recursive_directory_iterator it(fs::path(root) / "bench" / "records", error), end;
       !error && it != end; it.increment(error)) {
    if (it->path().extension() != ".json") continue;
    const auto record = nlohmann::json::parse(file_text(it->path()), nullptr, false);
    if (!record.is_object() || !record.contains("rows")) continue;
    for (const auto& row : record["rows"]) {
      if (!row.is_object() || !row.contains("kernel") || !row["kernel"].is_string()) continue;
      if (!row.contains("problem") || !row["problem"].is_string()) continue;
      const Result<ConvProblem> problem = parse_problem(row["problem"].get<std::string>());
      if (problem) out.emplace(row["kernel"].get<std::string>(), name(problem->dtype));
    }
  }
  return out;
}

// `at` is "file:Suite.Name": the file below `root` must hold that GoogleTest.
bool has_test(const std::string& at, const std::string& root) {
  const size_t colon = at.find(':'), dot = at.find('.', std::min(colon, at.size()));
  if (colon == std::string::npos || dot == std::string::npos) return false;
  const std::string text = file_text(fs::path(root) / at.substr(0, colon));
  const std::string head =
      str("(", at.substr(colon + 1, dot - colon - 1), ", ", at.substr(dot + 1));
  for (size_t found = text.find(head); found != std::string::npos;
       found = text.find(head, found + 1)) {
    const char next = text[std::min(found + head.size(), text.size() - 1)];
    if (next == ')' || next == ',') return true;
  }
  return false;
}

// A dtype or an operand option that an op lists, and which workloads show it.
struct Claim {
  std::string option;
  std::function<bool(const ConvProblem&)> shown;
};

std::vector<Claim> claims(const Op& op) {
  std::vector<Claim> out;
  out.reserve(op.dtypes.size() + op.biases.size());
  for (const DType dtype : op.dtypes)
    out.push_back({name(dtype), [dtype](const ConvProblem& p) { return p.dtype == dtype; }});
  for (const BiasType bias : op.biases) {
    if (bias == BiasType::kNone) continue;
    out.push_back({name(bias), [bias](const ConvProblem& p) { return p.bias == bias; }});
  }
  for (const Activation a : op.activations) {
    if (a == Activation::kNone) continue;
    out.push_back({name(a), [a](const ConvProblem& p) { return p.activation == a; }});
  }
  return out;
}

class Evidence {
 public:
  Evidence(const Op& op, const Manifest& manifest, const std::string& root, const FaultSink& sink)
      : op_(op), manifest_(manifest), root_(root), sink_(sink) {}

  void check_kernels(const OpDevice& device) const {
    for (const DType dtype : op_.dtypes) {
      const bool served = std::any_of(
          manifest_.kernels.begin(), manifest_.kernels.end(),
          [&](const KernelRow& row) { return serves(row, device) && takes(row, dtype); });
      if (served) continue;
      fault(device, str("no kernel row for ", name(op_.pass), " in ", name(dtype),
                        "; add the row or lower the status to spec-only"));
    }
  }

  void check_workloads(const OpDevice& device) const {
    for (const Claim& claim : claims(op_)) {
      const bool shown = std::any_of(
          manifest_.workloads.begin(), manifest_.workloads.end(), [&](const WorkloadRow& row) {
            return row.parsed && row.parsed->rank == op_.rank && row.parsed->pass == op_.pass &&
                   claim.shown(*row.parsed);
          });
      if (!shown) fault(device, str("no workload with ", claim.option, "; add one"));
    }
  }

  void check_tests(const OpDevice& device) const {
    for (const Claim& claim : claims(op_)) {
      const auto found = std::find_if(device.tests.begin(), device.tests.end(),
                                      [&](const auto& test) { return test.first == claim.option; });
      if (found == device.tests.end()) {
        fault(device, str("no test for ", claim.option, "; name one under tests"));
      } else if (!has_test(found->second.text, root_)) {
        sink_.add(found->second.line,
                  str("op ", op_.name, ": test '", found->second.text, "' for ", claim.option,
                      " does not exist; write file:Suite.Name of a test in this checkout"));
      }
    }
  }

  void check_records(const OpDevice& device) const {
    const auto records = measured(root_);
    for (const KernelRow& row : manifest_.kernels) {
      if (!serves(row, device) || row.facts.reference) continue;
      for (const DType dtype : op_.dtypes) {
        if (!takes(row, dtype) || records.contains({row.facts.name, name(dtype)})) continue;
        fault(device, str("no measured record for kernel ", row.facts.name, " in ", name(dtype),
                          "; run `convoy bench --record` into bench/records/<machine>/"));
      }
    }
  }

 private:
  void fault(const OpDevice& device, const std::string& message) const {
    sink_.add(device.line, str("op ", op_.name, " status ", name(device.backend), ": ",
                               name(device.status), " but ", message));
  }
  bool serves(const KernelRow& row, const OpDevice& device) const {
    const auto& passes = row.facts.passes;
    return row.facts.backend == device.backend &&
           std::find(passes.begin(), passes.end(), op_.pass) != passes.end();
  }
  static bool takes(const KernelRow& row, DType dtype) {
    return std::find(row.facts.dtypes.begin(), row.facts.dtypes.end(), dtype) !=
           row.facts.dtypes.end();
  }

  const Op& op_;
  const Manifest& manifest_;
  const std::string& root_;
  const FaultSink& sink_;
};

}  // namespace

void check_evidence(const Op& op, const Manifest& manifest, const std::string& root,
                    const FaultSink& sink) {
  const Evidence evidence(op, manifest, root, sink);
  for (const OpDevice& device : op.devices) {
    if (device.status == OpStatus::kSpecOnly) continue;
    evidence.check_kernels(device);
    if (device.status != OpStatus::kImplemented) continue;
    evidence.check_workloads(device);
    if (root.empty()) continue;  // an installed manifest has no tests and records beside it
    evidence.check_tests(device);
    evidence.check_records(device);
  }
}

}  // namespace convoy::manifest
