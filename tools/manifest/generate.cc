// At build time: manifest folder -> roster.cc, workloads.cc and manifest_text.cc.
#include <convoy/problem.h>

#include <cstdio>
#include <fstream>
#include <iostream>
#include <map>

#include "base/str.h"
#include "manifest/manifest.h"

namespace convoy::manifest {
namespace {

constexpr const char* kFirstLine =
    "// Generated from manifest/ by convoy_manifest_gen; do not edit.\n";

// A C++ string literal: everything outside plain ASCII becomes an octal escape of full length.
std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c >= ' ' && c <= '~' && c != '"' && c != '\\' && c != '?') {
      out += c;
      continue;
    }
    char escape[5];
    std::snprintf(escape, sizeof escape, "\\%03o",
                  static_cast<unsigned>(static_cast<unsigned char>(c)));
    out += escape;
  }
  return out + "\"";
}

template <class E>
unsigned bits(const std::vector<E>& values) {
  unsigned out = 0;
  for (const E value : values)
    out |= 1U << static_cast<unsigned>(value);
  return out;
}

std::string roster(const Manifest& manifest) {
  constexpr const char* kBackends[] = {"Backend::kCpu", "Backend::kCuda", "Backend::kHip"};
  std::string code = str(kFirstLine, "#include \"kernel/kernel.h\"\n\nnamespace convoy {\n\n");
  for (const KernelRow& row : manifest.kernels)
    code += str("extern const Kernel ", row.facts.name, ";\n");
  code += "\nnamespace {\nconst RosterRow kRows[] = {\n";
  for (const KernelRow& row : manifest.kernels) {
    const KernelFacts& f = row.facts;
    code += str("    {\"", f.name, "\", &", f.name, ", ", kBackends[static_cast<int>(f.backend)],
                ", ", bits(f.passes), ", ", bits(f.dtypes), ", ", bits(f.layouts), ", ",
                f.reference ? "true" : "false", "},\n");
  }
  return code +
         "};\n}  // namespace\n\nstd::span<const RosterRow> roster() {\n  return kRows;\n}\n\n"
         "}  // namespace convoy\n";
}

// The problems in their printed form, so that records and messages spell them alike.
std::string workloads(const Manifest& manifest) {
  std::string code =
      str(kFirstLine, "#include <convoy/plan.h>\n\nnamespace convoy {\nnamespace {\n\n",
          "using Suites = std::span<const std::string_view>;\n");
  std::map<std::vector<std::string>, std::string> sets = {{{}, "Suites()"}};
  for (const WorkloadRow& row : manifest.workloads) {
    const auto [it, added] = sets.try_emplace(row.suites, str("kSuites", sets.size()));
    if (!added) continue;
    code += str("constexpr std::string_view ", it->second, "[] = {");
    for (const std::string& suite : row.suites)
      code += str(quoted(suite), ", ");
    code += "};\n";
  }
  code += "\nconstexpr Workload kWorkloads[] = {\n";
  for (const WorkloadRow& row : manifest.workloads) {
    if (!row.parsed) continue;  // a fault, which main() reports
    code += str("    {", quoted(row.name), ", ", quoted(to_text(*row.parsed)), ", ",
                quoted(row.model), ", ", sets[row.suites], "},\n");
  }
  return code +
         "};\n\n}  // namespace\n\nstd::span<const Workload> workloads() {\n"
         "  return kWorkloads;\n}\n\n}  // namespace convoy\n";
}

// Line by line: one literal for a whole file would exceed what compilers must accept.
std::string manifest_text(std::span<const File> files) {
  std::string code = str(kFirstLine, "#include \"manifest/embedded.h\"\n\n",
                         "namespace convoy::manifest {\nnamespace {\n\n");
  std::string table;
  for (size_t i = 0; i < files.size(); ++i) {
    code += str("constexpr std::string_view kFile", i, "[] = {\n");
    std::string_view rest = files[i].text;
    while (!rest.empty()) {
      const size_t end = std::min(rest.find('\n'), rest.size() - 1);
      code += str("    ", quoted(rest.substr(0, end + 1)), ",\n");
      rest.remove_prefix(end + 1);
    }
    code += "};\n\n";
    table += str("    {", quoted(files[i].path), ", kFile", i, "},\n");
  }
  return str(code, "constexpr EmbeddedFile kFiles[] = {\n", table, "};\n\n}  // namespace\n\n",
             "std::span<const EmbeddedFile> embedded_files() {\n  return kFiles;\n}\n\n",
             "}  // namespace convoy::manifest\n");
}

bool write(const std::string& path, const std::string& text) {
  std::ofstream out(path, std::ios::binary);
  out << text;
  out.close();
  if (!out) std::cerr << "convoy_manifest_gen: cannot write " << path << "; check the folder\n";
  return static_cast<bool>(out);
}

int generate(const std::string& folder, const std::string& out) {
  const Result<std::vector<File>> files = load(folder);
  if (!files) {
    std::cerr << "convoy_manifest_gen: " << files.status().message() << "\n";
    return 1;
  }
  std::vector<Fault> faults;
  const Manifest manifest = read(*files, faults);
  for (const Fault& fault : faults)
    std::cerr << folder << "/" << fault.file << ":" << fault.line << ": " << fault.message << "\n";
  if (!faults.empty()) return 1;
  const bool written = write(out + "/roster.cc", roster(manifest)) &&
                       write(out + "/workloads.cc", workloads(manifest)) &&
                       write(out + "/manifest_text.cc", manifest_text(*files));
  return written ? 0 : 1;
}

}  // namespace
}  // namespace convoy::manifest

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: convoy_manifest_gen MANIFEST_FOLDER OUTPUT_FOLDER\n";
    return 2;
  }
  return convoy::manifest::generate(argv[1], argv[2]);
}
