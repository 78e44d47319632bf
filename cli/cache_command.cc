// `convoy cache`: what is cached for this machine; on the CPU that is its calibration.
#include <fmt/format.h>

#include "calibration.h"
#include "command.h"
#include "output.h"

namespace convoy::cli {
namespace {

Result<int> list(const Common& common) {
  const Result<int64_t> bound = cache_limit_bytes();
  if (!bound) return bound.status();
  const std::vector<CacheEntry> entries = cache_entries();
  int64_t bytes = 0;
  Json rows = Json::array();
  Table table({"key", "arch", "bytes"});
  for (const CacheEntry& entry : entries) {
    bytes += entry.bytes;
    rows.push_back({{"key", entry.key}, {"arch", entry.arch}, {"bytes", entry.bytes}});
    table.add({entry.key, entry.arch, fmt::format("{}", entry.bytes)});
  }
  if (common.json) {
    print_json({{"entries", std::move(rows)}, {"bytes", bytes}, {"limit_bytes", *bound}});
    return kDone;
  }
  if (!entries.empty()) table.print();
  print_text(
      fmt::format("{} bytes in {} entries, limit {} bytes\n", bytes, entries.size(), *bound));
  return kDone;
}

Result<int> clear(const Common& common) {
  if (const Result<int64_t> bound = cache_limit_bytes(); !bound) return bound.status();
  if (Status s = clear_cache(); !s.ok()) return s;
  return common.quiet ? Result<int>(kDone) : list(common);
}

// The CPU has no kernels to compile, so a suite narrows nothing here.
Result<int> warm(const Common& common) {
  const Result<Device> device = open_device_uncalibrated(common);
  if (!device) return device.status();
  const Result<Ceilings> measured = calibrate(*device);
  if (!measured) return measured.status();
  if (Status s = store_calibration(device->info(), *measured); !s.ok()) return s;
  return common.quiet ? Result<int>(kDone) : list(common);
}

}  // namespace

void add_cache(CLI::App& app, Common& common, Action& action) {
  CLI::App* command = app.add_subcommand("cache", "List, clear or fill the caches");
  command->require_subcommand(0, 1);
  struct Verb {
    const char* word;
    const char* help;
    Result<int> (*run)(const Common&);
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
      action = [run, &common] { return run(common); };
    });
  }
}

}  // namespace convoy::cli
