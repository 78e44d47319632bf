// The options and devices that commands share, and how errors are reported.
#include "command.h"

#include <fmt/format.h>

#include <cstdio>

#include "calibration.h"
#include "output.h"
#include "report.h"

namespace convoy::cli {
namespace {

int exit_code(Code code) {
  if (code == Code::kUnavailable) return kAbsent;
  return code == Code::kInternal ? kBroken : kRefused;
}

}  // namespace

int report_error(int exit, std::string_view kind, std::string_view message, bool json) {
  const std::string line = one_line(message);
  std::fputs(fmt::format("convoy: {}\n", line).c_str(), stderr);
  if (json) print_json({{"error", {{"exit", exit}, {"kind", kind}, {"message", line}}}});
  return exit;
}

int report_error(const Status& status, bool json) {
  return report_error(exit_code(status.code()), name(status.code()), status.message(), json);
}

int usage_error(const Common& common, std::string_view message) {
  return report_error(kUsage, "usage", message, common.json);
}

std::string id_text(DeviceId id) {
  if (id.backend == Backend::kCpu) return "cpu";
  return fmt::format("{}:{}", id.backend == Backend::kCuda ? "cuda" : "hip", id.index);
}

void add_output_options(CLI::App& command, Common& common) {
  command.add_flag("--json", common.json, "Print one JSON document and nothing else");
  command.add_flag("--quiet", common.quiet, "Print no progress and no summary");
}

void add_device_option(CLI::App& command, Common& common) {
  command.add_option("--device", common.device, "cpu, cuda[:i] or hip[:i]")->capture_default_str();
}

void add_kernel_options(CLI::App& command, Common& common) {
  command.add_option("--kernel", common.kernel, "Use this kernel or fail");
  command.add_flag("--deterministic", common.deterministic,
                   "The same bits for any batch, thread count and run");
}

Result<Device> open_device_uncalibrated(const Common& common) {
  return device(common.device);
}

Result<Device> open_device(const Common& common) {
  const Result<Device> plain = open_device_uncalibrated(common);
  if (!plain) return plain.status();
  if (const auto cached = load_calibration(plain->info())) return plain->with_ceilings(*cached);
  const Result<Ceilings> measured = calibrate(*plain);
  if (!measured) return measured.status();
  // A folder that cannot be written costs the next call its calibration, nothing else.
  static_cast<void>(store_calibration(plain->info(), *measured));
  return plain->with_ceilings(*measured);
}

}  // namespace convoy::cli
