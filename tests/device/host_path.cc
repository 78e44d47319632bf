// What a call costs the host: a planned launch, a plan that is looked up, and the first call.
#include <algorithm>

#include "base/str.h"
#include "conformance/trial.h"
#include "device/child.h"
#include "device/mirror.h"
#include "device/mode.h"
#include "launch/timer.h"

namespace convoy::test {
namespace {

constexpr const char* kProblem =
    "conv2d fprop f16 n1 c256 k256 g32 h14 w14 r3 s3 pad1 nhwc bias relu";
constexpr int kBatches = 9, kCalls = 400;

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// Microseconds of one call, without waiting for the device inside a batch.
Result<double> launch_us(const Plan& plan, const RunArgs& args, const Device& device,
                         Stream stream) {
  std::vector<double> batches;
  for (int b = 0; b < kBatches; ++b) {
    const double start = now_us();
    for (int i = 0; i < kCalls; ++i) {
      if (Status s = plan.run(args, stream); !s.ok()) return s;
    }
    batches.push_back((now_us() - start) / kCalls);
    if (Status s = synchronize(device, stream); !s.ok()) return s;
  }
  return median(batches);
}

Status measure(const Context& context, ModeReport& report) {
  const ConvProblem p = *parse_problem(kProblem);
  const Result<Plan> chosen = plan(p, context.device);
  if (!chosen) return chosen.status();
  const Result<OwnStream> timer = OwnStream::create(context.device);
  if (!timer) return timer.status();
  Arena arena(context.device);
  Status status;
  const std::string fault =
      Answer({.problem = p, .seed = 3}).fault_of_run([&](const Operands& operands) -> Status {
        Result<DeviceMirror> mirror = DeviceMirror::upload(operands, arena, timer->stream());
        if (!mirror) return mirror.status();
        const auto us = launch_us(*chosen, mirror->args(), context.device, timer->stream());
        if (!us) return us.status();
        report.facts["launch_us"] = *us;
        return mirror->download();
      });
  if (!fault.empty()) return internal(fault);
  std::vector<double> lookups;
  for (int i = 0; i < kCalls; ++i) {
    const double start = now_us();
    if (const Result<Plan> again = plan(p, context.device); !again) return again.status();
    lookups.push_back(now_us() - start);
  }
  report.facts["plan_us"] = median(lookups);
  report.facts["kernel"] = chosen->kernel();
  return {};
}

}  // namespace

ModeReport run_first_call(const Context& context) {
  ModeReport report{.mode = "first-call"};
  const ConvProblem p = *parse_problem(kProblem);
  const double start = now_us();
  const Result<Plan> chosen = plan(p, context.device);
  if (!chosen) {
    report.failures.push_back(chosen.status().message());
    return report;
  }
  const double planned = now_us();
  Arena arena(context.device);
  const std::string fault =
      Answer({.problem = p, .seed = 3}).fault_of_run([&](const Operands& operands) {
        const double before = now_us();
        const Status s = run_on_device(*chosen, operands, arena, {});
        report.facts["run_ms"] = (now_us() - before) / 1e3;
        return s;
      });
  report.facts["plan_ms"] = (planned - start) / 1e3;
  ++report.runs;
  if (!fault.empty()) report.failures.push_back(fault);
  return report;
}

ModeReport run_host_path(const Context& context) {
  ModeReport report{.mode = "host-path"};
  if (const Status s = measure(context, report); !s.ok()) report.failures.push_back(s.message());
  ++report.runs;
  const CacheFolder cache;
  for (const char* which : {"cold", "from_disk"}) {
    const double start = now_us();
    Child child({"--first-call", "--print-json", "--device", context.device_name}, cache,
                str(which, ".txt"));
    const int code = child.wait();
    const auto json = nlohmann::ordered_json::parse(child.output(), nullptr, false);
    ++report.runs;
    if (code != 0 || !json.is_object()) {
      report.failures.push_back(
          str("the ", which, " child ended with ", code, ": ", child.output()));
      continue;
    }
    report.facts[which] = json["modes"][0]["facts"];
    report.facts[which]["process_ms"] = (now_us() - start) / 1e3;
  }
  return report;
}

}  // namespace convoy::test
