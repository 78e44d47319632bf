// convoy_device_test: the conformance tests on a device. Exit 0 all right, 1 a failure, 77 no
// device.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>

#include "device/mode.h"
#include "launch/timer.h"

namespace convoy::test {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kSkipped = 77;  // what CTest and Automake call a skip

struct Mode {
  const char* flag;
  const char* help;
  ModeReport (*run)(const Context&);
  bool by_default = true;
  bool asked = false;
};

struct Arguments {
  Context context;
  std::string device = "cuda", json;
  bool print_json = false, some_kernels = false;
};

Json to_json(const ModeReport& report, double seconds) {
  return {{"mode", report.mode},         {"ok", report.ok()},     {"runs", report.runs},
          {"failures", report.failures}, {"facts", report.facts}, {"seconds", seconds}};
}

void print_summary(const ModeReport& report, double seconds) {
  std::printf("%s: %s, %lld runs in %.1f s, %zu failures %s\n", report.mode.c_str(),
              report.ok() ? "ok" : "FAILED", static_cast<long long>(report.runs), seconds,
              report.failures.size(), report.facts.dump().c_str());
  for (const std::string& failure : report.failures)
    std::printf("  %s\n", failure.c_str());
  std::fflush(stdout);
}

Json document_of(const DeviceInfo& info, const Json& modes) {
  return {{"schema", 1},
          {"device", info.name},
          {"arch", info.arch},
          {"convoy", version()},
          {"modes", modes}};
}

int run_modes(std::vector<Mode>& modes, Arguments& arguments) {
  const Result<Device> device = convoy::device(arguments.device);
  if (!device) {
    std::printf("no CUDA device: nothing run (%s)\n", device.status().message().c_str());
    return kSkipped;
  }
  Context& context = arguments.context;
  context.device = *device;
  context.device_name = arguments.device;
  context.every_kernel = !arguments.some_kernels;
  bool any = false, ok = true;
  for (const Mode& mode : modes)
    any = any || mode.asked;
  Json done = Json::array();
  for (const Mode& mode : modes) {
    if (any ? !mode.asked : !mode.by_default) continue;
    const double start = now_us();
    const ModeReport report = mode.run(context);
    const double seconds = (now_us() - start) / 1e6;
    ok = ok && report.ok();
    done.push_back(to_json(report, seconds));
    if (!arguments.print_json) print_summary(report, seconds);
    // Written after each mode: a run that is cut short keeps what it has.
    if (!arguments.json.empty()) {
      std::ofstream(arguments.json) << document_of(device->info(), done).dump(1) << "\n";
    }
  }
  if (arguments.print_json) {
    std::printf("%s\n", document_of(device->info(), done).dump(1).c_str());
  }
  return ok ? 0 : 1;
}

}  // namespace
}  // namespace convoy::test

int main(int argc, char** argv) {
  using namespace convoy::test;  // NOLINT(google-build-using-namespace): the program's own
  std::vector<Mode> modes = {
      {"--sweep", "Random problems by configuration", run_configurations},
      {"--field-cases", "Every field case", run_field_cases},
      {"--big-offsets", "Offsets past 32 bits", run_big_offsets},
      {"--capture", "Graph capture and replay", run_capture},
      {"--streams", "Threads and streams", run_streams},
      {"--host-path", "Host cost of calls", run_host_path},
      {"--two-processes", "One cold cache folder", run_two_processes},
      {"--first-call", "Times of this process's first call", run_first_call, false}};
  Arguments arguments;
  CLI::App app("Conformance tests on a device; without a mode, all of them");
  for (Mode& mode : modes)
    app.add_flag(mode.flag, mode.asked, mode.help);
  Context& c = arguments.context;
  app.add_option("--configurations", c.configurations, "Of the sweep")->capture_default_str();
  app.add_option("--draws", c.draws, "Per configuration")->capture_default_str();
  app.add_option("--seconds", c.seconds, "Of each mode, about")->capture_default_str();
  app.add_option("--threads", c.threads, "That compile and judge")->capture_default_str();
  app.add_option("--seed", c.seed, "Of the draws")->capture_default_str();
  app.add_option("--device", arguments.device, "cuda[:i]")->capture_default_str();
  app.add_option("--json", arguments.json, "Write the results to this file");
  app.add_flag("--print-json", arguments.print_json, "Print the results as one JSON document");
  app.add_flag("--some-kernels", arguments.some_kernels, "Kernels that never run are no failure");
  CLI11_PARSE(app, argc, argv);
  return run_modes(modes, arguments);
}
