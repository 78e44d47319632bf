// The JSON document of `convoy bench --json` and `--record`.
#include "bench/record.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/utsname.h>

#include <array>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

#include "bench/measure.h"

namespace convoy::bench {
namespace {

// What a command prints, without the last line break; nothing where it fails.
std::optional<std::string> output_of(const char* command) {
  FILE* pipe = popen(command, "r");
  if (pipe == nullptr) return std::nullopt;
  std::string out;
  std::array<char, 4096> chunk;
  for (size_t n = 0; (n = fread(chunk.data(), 1, chunk.size(), pipe)) > 0;)
    out.append(chunk.data(), n);
  if (pclose(pipe) != 0) return std::nullopt;
  while (!out.empty() && out.back() == '\n')
    out.pop_back();
  return out;
}

// Another project's checkout says nothing about the code that was measured.
void read_checkout(Circumstances& c) {
  // A bundle for another machine brings the commit beside the program.
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (std::ifstream file(program.parent_path() / "COMMIT"); !error && file >> c.commit) {
    std::string word;
    c.dirty = static_cast<bool>(file >> word);
    return;
  }
  const auto root = output_of("git rev-parse --show-toplevel 2>/dev/null");
  if (!root || !std::ifstream(*root + "/include/convoy/convoy.h")) return;
  c.commit = output_of("git rev-parse HEAD 2>/dev/null").value_or("");
  const auto changes = output_of("git status --porcelain --untracked-files=no 2>/dev/null");
  c.dirty = !changes || !changes->empty();
}

// The words that were typed; of the program its name alone.
std::string command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::string words{std::istreambuf_iterator<char>(file), {}}, text;
  size_t start = 0;
  for (size_t end = 0; (end = words.find('\0', start)) != std::string::npos; start = end + 1) {
    std::string word = words.substr(start, end - start);
    if (start == 0) word = std::filesystem::path(word).filename().string();
    const bool blank = word.empty() || word.find(' ') != std::string::npos;
    text += (start > 0 ? " " : "") + (blank ? '"' + word + '"' : word);
  }
  return text;
}

Json to_json(const Ceilings& c) {
  Json copies = Json::array();
  for (const Ceilings::Copy& copy : c.copy)
    copies.push_back({{"bytes", copy.bytes}, {"gbs", copy.gbs}});
  return {{"copy", copies},
          {"copy_streaming_gbs", c.copy_streaming_gbs},
          {"fma_gflops", c.fma_gflops},
          {"matrix_gflops", c.matrix_gflops},
          {"matrix_f16_gflops", c.matrix_f16_gflops},
          {"matrix_tf32_gflops", c.matrix_tf32_gflops},
          {"fork_join_us", c.fork_join_us}};
}

Json versions() {
  utsname system{};
  uname(&system);
  return {{"convoy", version()}, {"compiler", __VERSION__}, {"kernel", system.release}};
}

}  // namespace

Circumstances circumstances(const Device& device) {
  const DeviceInfo& info = device.info();
  Circumstances c;
  const std::string threads =
      fmt::format("{}, {} thread{}", name(info.isa), info.threads, info.threads == 1 ? "" : "s");
  const bool on_cpu = info.id.backend == Backend::kCpu;
  c.machine = fmt::format("{}, {}", info.name, on_cpu ? threads : info.arch);
  read_checkout(c);
  c.date = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
  c.command = command_line();
  c.cold_bytes = cold_bytes(info);
  c.ceilings = info.ceilings;
  return c;
}

Json to_json(const Row& row) {
  Json algorithms = Json::array();
  for (const Algorithm& a : row.algorithms) {
    algorithms.push_back(
        {{"name", a.name}, {"median_us", a.median_us}, {"workspace_bytes", a.workspace_bytes}});
  }
  return {{"problem", row.problem},
          {"workload", row.workload},
          {"layout", name(row.layout)},
          {"cache", name(row.cache)},
          {"impl", row.impl},
          {"version", row.version},
          {"kernel", row.kernel},
          {"config", row.config},
          {"samples", row.samples},
          {"median_us", row.median_us},
          {"p10_us", row.p10_us},
          {"p90_us", row.p90_us},
          {"stream_us", row.stream_us},
          {"flops", row.flops},
          {"executed_flops", row.executed_flops},
          {"bytes", row.bytes},
          {"tflops", row.tflops},
          {"gbs", row.gbs},
          {"limit_us", row.limit_us},
          {"limit_by", row.by_compute ? "compute" : "copy"},
          {"pct_limit", row.pct_limit},
          {"launch_bound", row.launch_bound},
          {"peer_degenerate", row.peer_degenerate},
          {"check", row.check},
          {"algorithms", algorithms}};
}

Json record(const Circumstances& c, const std::vector<Row>& rows) {
  Json list = Json::array();
  for (const Row& row : rows)
    list.push_back(to_json(row));
  return {{"schema", 1},
          {"machine", c.machine},
          {"commit", c.commit},
          {"dirty", c.dirty},
          {"date", c.date},
          {"versions", versions()},
          {"command", c.command},
          {"conditions",
           {{"cpus", c.cpus},
            {"cold_bytes", c.cold_bytes},
            {"other_cpu_share", c.noise.other_share},
            {"load_average", c.noise.load}}},
          {"ceilings", to_json(c.ceilings)},
          {"empty_launch_us", c.ceilings.fork_join_us},
          {"noisy", c.noise.noisy},
          {"rows", list}};
}

std::string record_text(const Json& record) {
  return record.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace convoy::bench
