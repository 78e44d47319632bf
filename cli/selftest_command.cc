// `convoy selftest`: exact integer cases through every kernel and ISA tier of the device.
#include <fmt/format.h>

#include <map>
#include <optional>
#include <set>

#include "bench/selftest.h"
#include "command.h"
#include "output.h"

namespace convoy::cli {
namespace {

void print_document(const bench::SelftestReport& report, const Device& device) {
  Json rows = Json::array();
  for (const bench::SelftestRow& row : report.rows) {
    rows.push_back({{"kernel", row.kernel},
                    {"tier", row.tier},
                    {"pass", name(row.pass)},
                    {"dtype", name(row.dtype)},
                    {"layout", name(row.layout)},
                    {"cases", row.cases},
                    {"failed", row.failed},
                    {"skipped", row.skipped},
                    {"reason", row.reason}});
  }
  print_json({{"device", device.info().name}, {"rows", rows}, {"ok", report.ok}});
}

// One line per kernel and tier; the document holds them apart.
void print_summary(const bench::SelftestReport& report, const Device& device) {
  std::map<std::pair<std::string, std::string>, bench::SelftestRow> sums;
  for (const bench::SelftestRow& row : report.rows) {
    bench::SelftestRow& sum = sums[{row.kernel, row.tier}];
    sum.cases += row.cases;
    sum.failed += row.failed;
    sum.skipped += row.skipped;
    if (row.failed > 0 && sum.reason.empty()) sum.reason = row.reason;
  }
  Table table({"kernel", "tier", "cases", "failed", "skipped", "first failure"});
  for (const auto& [key, sum] : sums) {
    table.add({key.first, key.second, std::to_string(sum.cases), std::to_string(sum.failed),
               std::to_string(sum.skipped), sum.reason});
  }
  table.print();
  print_text(fmt::format("\n{}: {}\n", device.info().name, report.ok ? "ok" : "FAILED"));
}

// What made the report fail, for the error line.
std::string fault_of(const bench::SelftestReport& report) {
  std::set<std::string> idle, busy;
  for (const bench::SelftestRow& row : report.rows) {
    const std::string claim =
        fmt::format("{} {} {} {}", row.kernel, name(row.pass), name(row.dtype), name(row.layout));
    if (row.failed > 0) return fmt::format("{} at tier {}: {}", claim, row.tier, row.reason);
    (row.cases > 0 ? busy : idle).insert(claim);
  }
  for (const std::string& claim : idle) {
    if (busy.count(claim) == 0) return claim + ": no case, every one was declined";
  }
  return "unknown";
}

Result<int> selftest_command(const Common& common) {
  const Result<Device> device = open_device_uncalibrated(common);
  if (!device) return device.status();
  std::optional<Progress> bar;
  bench::SelftestOptions options{
      .plan = {.kernel = common.kernel, .deterministic = common.deterministic},
      .stop = interrupted};
  options.progress = [&](size_t, size_t total) {
    if (!bar) bar.emplace("selftest", total, !common.quiet && !common.json);
    bar->step("");
  };
  const Result<bench::SelftestReport> report = bench::selftest(*device, options);
  bar.reset();
  if (interrupted()) return kInterrupted;
  if (!report) return report.status();
  if (common.json) {
    print_document(*report, *device);
  } else if (!common.quiet) {
    print_summary(*report, *device);
  }
  if (report->ok) return kDone;
  std::fputs(
      fmt::format("convoy: selftest: {}; do not use this build here\n", fault_of(*report)).c_str(),
      stderr);
  return kCheckFailed;
}

}  // namespace

void add_selftest(CLI::App& app, Common& common, Action& action) {
  CLI::App* command =
      app.add_subcommand("selftest", "Run exact cases through every kernel of the device");
  add_kernel_options(*command, common);
  add_device_option(*command, common);
  add_output_options(*command, common);
  command->callback(
      [&common, &action] { action = [&common] { return selftest_command(common); }; });
}

}  // namespace convoy::cli
