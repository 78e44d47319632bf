// `convoy cache`: what is cached for this machine; on the CPU that is its calibration.
#include <convoy/convoy.h>
#include <fmt/format.h>

#include <chrono>

#include "bench/suites.h"
#include "calibration.h"
#include "command.h"
#include "output.h"

namespace convoy::cli {
namespace {

constexpr int kCompilers = 2;  // threads

Result<int> list(const Common& common, const std::string&) {
  const Result<CacheSettings> settings = cache_settings();
  if (!settings) return settings.status();
  int64_t bytes = 0;
  Json rows = Json::array();
  Table table({"key", "arch", "bytes"});
  const auto add = [&](const std::string& key, const std::string& arch, int64_t size) {
    bytes += size;
    rows.push_back({{"key", key}, {"arch", arch}, {"bytes", size}});
    table.add({key, arch, fmt::format("{}", size)});
  };
  for (const CacheEntry& entry : cache_entries())
    add(entry.key, entry.arch, entry.bytes);
  for (const CachedKernel& kernel : cached_kernels())
    add(fmt::format("{}: {}", kernel.kernel, kernel.key), kernel.arch, kernel.bytes);
  const size_t count = rows.size();
  if (common.json) {
    print_json(
        {{"entries", std::move(rows)}, {"bytes", bytes}, {"limit_bytes", settings->limit_bytes}});
    return kDone;
  }
  if (count > 0) table.print();
  print_text(
      fmt::format("{} bytes in {} entries, limit {} bytes\n", bytes, count, settings->limit_bytes));
  return kDone;
}

Result<int> clear(const Common& common, const std::string& suite) {
  if (const auto settings = cache_settings(); !settings) return settings.status();
  if (Status s = clear_cache(); !s.ok()) return s;
  if (Status s = clear_cached_kernels(); !s.ok()) return s;
  return common.quiet ? Result<int>(kDone) : list(common, suite);
}

// Plans the problems of a suite, so that what they need is compiled.
Result<int> compile_suite(const Common& common, const Device& device, const std::string& suite) {
  const Result<std::vector<bench::Case>> cases = bench::suite_cases(suite);
  if (!cases) return cases.status();
  const auto start = std::chrono::steady_clock::now();
  const Result<int64_t> planned =
      bench::plan_all(*cases, device, {.kernel = common.kernel}, kCompilers, interrupted);
  if (!planned) return planned.status();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  if (!common.quiet && !common.json) {
    print_text(fmt::format("{} problems planned in {:.1f} s\n", *planned, seconds.count()));
  }
  return kDone;
}

Result<int> warm(const Common& common, const std::string& suite) {
  const Result<Device> device = open_device_uncalibrated(common);
  if (!device) return device.status();
  if (!suite.empty()) {
    const Result<int> compiled = compile_suite(common, *device, suite);
    if (!compiled || interrupted()) return compiled ? Result<int>(kInterrupted) : compiled;
  }
  const Result<Ceilings> measured = calibrate(*device);
  if (!measured) return measured.status();
  if (Status s = store_calibration(device->info(), *measured); !s.ok()) return s;
  return common.quiet ? Result<int>(kDone) : list(common, suite);
}

}  // namespace

void add_cache(CLI::App& app, Common& common, Action& action) {
  CLI::App* command = app.add_subcommand("cache", "List, clear or fill the caches");
  command->require_subcommand(0, 1);
  struct Verb {
    const char* word;
    const char* help;
    Result<int> (*run)(const Common&, const std::string& suite);
  };
  for (const Verb& verb : {Verb{"list", "Show the entries and the limit", list},
                           Verb{"clear", "Remove every entry", clear},
                           Verb{"warm", "Measure and compile now what a suite needs", warm}}) {
    CLI::App* sub = command->add_subcommand(verb.word, verb.help);
    add_device_option(*sub, common);
    add_output_options(*sub, common);
    auto suite = std::make_shared<std::string>();
    if (verb.run == warm) sub->add_option("--suite", *suite, "A suite of workloads");
    sub->callback([run = verb.run, suite, &common, &action] {
      action = [run, suite, &common] { return run(common, *suite); };
    });
  }
}

}  // namespace convoy::cli
