// What every sub-command shares: the common options, the exit codes, and how a command is added.
#pragma once

#include <convoy/convoy.h>

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <string_view>

namespace convoy::cli {

// Contract section 2. An error Status maps to kRefused, kUnavailable or kInternal by its code.
enum Exit {
  kDone = 0,
  kRefused = 1,
  kUsage = 2,
  kAbsent = 3,
  kCheckFailed = 4,
  kBroken = 5,
  kInterrupted = 130
};

struct Common {
  bool json = false;
  bool quiet = false;
  bool deterministic = false;
  std::string device = "cpu";
  std::string kernel;  // --kernel, empty: the plan chooses
};

// What the parsed command line asks for. Gives an exit code, or the error that main() reports.
using Action = std::function<Result<int>()>;

// Reports what is wrong with the command line itself, as main() reports errors; gives kUsage.
int usage_error(const Common& common, std::string_view message);
// "cpu", "cuda:0": how --device and the documents name a device.
std::string id_text(DeviceId id);

// Each adds its sub-command to `app`; parsing it sets `action`. `common` outlives both.
void add_run(CLI::App& app, Common& common, Action& action);
void add_explain(CLI::App& app, Common& common, Action& action);
void add_bench(CLI::App& app, Common& common, Action& action);
void add_bench_compare(CLI::App& app, Common& common, Action& action);
void add_audit(CLI::App& app, Common& common, Action& action);
void add_manifest(CLI::App& app, Common& common, Action& action);
void add_devices(CLI::App& app, Common& common, Action& action);
void add_selftest(CLI::App& app, Common& common, Action& action);
void add_cache(CLI::App& app, Common& common, Action& action);

// --json and --quiet; --device; --kernel and --deterministic: each where the contract gives it.
void add_output_options(CLI::App& command, Common& common);
void add_device_option(CLI::App& command, Common& common);
void add_kernel_options(CLI::App& command, Common& common);

// The device that --device names, with the cached calibration of this machine, or one made now.
Result<Device> open_device(const Common& common);
// The same without ceilings: for commands that print no limit.
Result<Device> open_device_uncalibrated(const Common& common);

}  // namespace convoy::cli
