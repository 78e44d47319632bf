// `convoy bench`: measures problems or a suite, prints rows worst first, writes a record.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <set>

#include "bench/device_measure.h"
#include "bench/measure.h"
#include "bench/record.h"
#include "bench/suites.h"
#include "command.h"
#include "files.h"
#include "output.h"

namespace convoy::cli {
namespace {

constexpr int kCompileThreads = 8;

struct BenchArgs {
  std::vector<std::string> problems;
  std::vector<std::string> suites;
  bool all = false, tune = false, allow_noisy = false;
  std::vector<std::string> peers;
  std::string record;
};

Status check_peers(const std::vector<std::string>& peers) {
  constexpr std::array<std::string_view, 3> kPeers = {"cudnn", "onednn", "torch"};
  for (const std::string& peer : peers) {
    if (std::find(kPeers.begin(), kPeers.end(), peer) == kPeers.end()) {
      return invalid(
          fmt::format("bench: --peer '{}' must be cudnn, onednn or torch; choose one", peer));
    }
  }
  if (peers.empty()) return {};
  return unavailable(
      fmt::format("bench: peer {} is not in this build; leave out --peer", peers.front()));
}

Result<std::vector<bench::Case>> cases_of(const BenchArgs& args) {
  if (args.all) return bench::suite_cases("all");
  std::vector<bench::Case> cases;
  std::set<std::string> seen;
  for (const std::string& suite : args.suites) {
    const Result<std::vector<bench::Case>> some = bench::suite_cases(suite);
    if (!some) return some.status();
    for (const bench::Case& c : *some) {
      if (seen.insert(to_text(c.problem)).second) cases.push_back(c);
    }
  }
  for (const std::string& text : args.problems) {
    const Result<ConvProblem> problem = parse_problem(text);
    if (!problem) return problem.status();
    cases.push_back({*problem, bench::workload_of(*problem)});
  }
  return cases;
}

bool is_usage_fault(const BenchArgs& args) {
  const int sources = (args.problems.empty() ? 0 : 1) + (args.suites.empty() ? 0 : 1) + args.all;
  return sources != 1;
}

void print_rows(std::vector<bench::Row> rows) {
  bench::sort_worst_first(rows);
  Table table({"% of limit", "by", "median_us", "p10_us", "p90_us", "GFLOP/s", "GB/s", "cache",
               "impl", "kernel", "check", "problem"});
  int64_t launch_bound = 0;
  for (const bench::Row& row : rows) {
    table.add({number(row.pct_limit), row.by_compute ? "compute" : "copy", number(row.median_us),
               number(row.p10_us), number(row.p90_us), number(row.tflops * 1e3), number(row.gbs),
               bench::name(row.cache), row.impl, row.kernel, row.check, row.problem});
    launch_bound += row.launch_bound;
  }
  table.print();
  print_text(fmt::format("\n{} of {} rows are launch_bound and left out of every mean\n",
                         launch_bound, rows.size()));
}

// A pass without a kernel on this GPU costs its own row alone.
bool is_left_out(const Status& status, const Device& device) {
  return device.info().id.backend != Backend::kCpu && status.code() == Code::kUnsupported;
}

void print_note(const std::string& text) {
  std::fputs(fmt::format("convoy: bench: {}\n", text).c_str(), stderr);
}

// A stop keeps what was measured so far; the caller asks interrupted().
Result<std::vector<bench::Row>> measure_all(const std::vector<bench::Case>& cases,
                                            const Device& device, const BenchArgs& args,
                                            const Common& common) {
  const bench::MeasureOptions options{
      .plan = {.kernel = common.kernel, .deterministic = common.deterministic},
      .tune = args.tune,
      .stop = interrupted};
  using Rows = Result<std::vector<bench::Row>>;
  std::function<Rows(const bench::Case&)> measure;
  std::optional<bench::DeviceHarness> on_device;
  bench::Harness harness(device);
  if (device.info().id.backend == Backend::kCpu) {
    measure = [&](const bench::Case& c) { return harness.measure(c.problem, c.workload, options); };
  } else {
    Result<bench::DeviceHarness> made = bench::DeviceHarness::create(device);
    if (!made) return made.status();
    on_device.emplace(*std::move(made));
    on_device->compile_ahead(cases, options, kCompileThreads);
    measure = [&](const bench::Case& c) {
      return on_device->measure(c.problem, c.workload, options);
    };
  }
  Progress progress("bench", cases.size(), !common.quiet && !common.json);
  std::vector<bench::Row> rows;
  for (const bench::Case& c : cases) {
    if (interrupted()) break;
    const Rows measured = measure(c);
    if (is_left_out(measured.status(), device)) {
      print_note(fmt::format("left out {}: {}", to_text(c.problem), measured.status().message()));
      continue;
    }
    if (!measured) return measured.status();
    rows.insert(rows.end(), measured->begin(), measured->end());
    progress.step(to_text(c.problem));
  }
  return rows;
}

// Why no record may be written of what was measured; nothing where it may.
std::optional<std::string> record_fault(const bench::Noise& noise,
                                        const std::vector<bench::Row>& rows,
                                        const BenchArgs& args) {
  const auto failed = std::find_if_not(rows.begin(), rows.end(), bench::passed);
  if (failed != rows.end()) {
    return fmt::format("bench: {} by {}: {}; no record is written", failed->problem, failed->kernel,
                       failed->check);
  }
  if (args.record.empty() || !noise.noisy || args.allow_noisy) return {};
  return fmt::format(
      "bench record: other processes burned {:.1f} % of the CPUs (at most 5), load average {:.2f} "
      "before the run (at most the CPUs); wait for a quiet machine or pass --allow-noisy",
      100 * noise.other_share, noise.load);
}

Result<int> finish(const bench::Circumstances& circumstances, const std::vector<bench::Row>& rows,
                   const BenchArgs& args, const Common& common) {
  const bench::Json document = bench::record(circumstances, rows);
  const std::optional<std::string> fault = record_fault(circumstances.noise, rows, args);
  if (!fault && !args.record.empty()) {
    // Before anything is printed: with --json stdout holds one document, here that of the error.
    Status written = write_file(args.record, bench::record_text(document), "record");
    if (!written.ok()) return written;
  }
  if (common.json) {
    print_json(document);
  } else if (!common.quiet) {
    print_rows(rows);
  }
  if (!fault) return kDone;
  // Exit 4: one error line on stderr, even where stdout holds the document.
  std::fputs(fmt::format("convoy: {}\n", *fault).c_str(), stderr);
  return kCheckFailed;
}

Result<int> bench_command(const BenchArgs& args, const Common& common) {
  if (is_usage_fault(args)) {
    return usage_error(common, "bench: give either problems, --suite NAME or --all");
  }
  if (Status s = check_peers(args.peers); !s.ok()) return s;
  const Result<std::vector<bench::Case>> cases = cases_of(args);
  if (!cases) return cases.status();
  const Result<Device> plain = open_device_uncalibrated(common);
  if (!plain) return plain.status();
  if (!args.record.empty()) {
    // Refused now, not after minutes of measuring; the trial file vanishes with its scope.
    const Result<StagedFile> trial = StagedFile::stage(args.record, "", "record");
    if (!trial) return trial.status();
  }
  const double load = bench::load_average();
  const bench::CpuTimes before = bench::cpu_times();
  const bool on_cpu = plain->info().id.backend == Backend::kCpu;
  const std::string cpus = on_cpu ? bench::pin(*plain) : "";
  // Limits stand beside times of the same process, so a cached calibration will not do.
  const Result<Ceilings> ceilings = calibrate(*plain);
  if (!ceilings) return ceilings.status();
  const Device device = plain->with_ceilings(*ceilings);
  const Result<std::vector<bench::Row>> rows = measure_all(*cases, device, args, common);
  if (interrupted()) return kInterrupted;
  if (!rows) return rows.status();
  bench::Circumstances circumstances = bench::circumstances(device);
  circumstances.cpus = cpus;
  circumstances.noise = bench::judge_noise(before, bench::cpu_times(), load, bench::online_cpus());
  return finish(circumstances, *rows, args, common);
}

}  // namespace

void add_bench(CLI::App& app, Common& common, Action& action) {
  auto args = std::make_shared<BenchArgs>();
  CLI::App* command = app.add_subcommand("bench", "Measure problems against the machine's limit");
  command->add_option("problem", args->problems, "Problem texts, each complete");
  command
      ->add_option("--suite", args->suites,
                   "The workloads of this suite, in both layouts; several, by commas")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->add_flag("--all", args->all, "Every workload");
  command->add_option("--peer", args->peers, "Measure these beside: cudnn, onednn, torch")
      ->delimiter(',')
      ->allow_extra_args(false);  // the word behind it is a problem
  command->add_option("--record", args->record, "Write the JSON document to this file");
  command->add_flag("--tune", args->tune, "Measure every candidate and keep the fastest");
  command->add_flag("--allow-noisy", args->allow_noisy, "Write a record on a busy machine, marked");
  add_kernel_options(*command, common);
  add_device_option(*command, common);
  add_output_options(*command, common);
  command->callback([args, &common, &action] {
    action = [args, &common] { return bench_command(*args, common); };
  });
}

}  // namespace convoy::cli
