// Calls captured into a graph: replays see new data, and a plan made meanwhile breaks nothing.
#include "base/str.h"
#include "conformance/trial.h"
#include "device/mirror.h"
#include "device/mode.h"
#include "launch/timer.h"

namespace convoy::test {
namespace {

constexpr const char* kProblems[] = {
    "conv2d fprop f16 n2 c64 k64 g64 h14 w14 r3 s3 pad1 nhwc bias silu",
    "conv2d fprop f16 n2 c64 k64 g8 h14 w14 r3 s3 pad1 nhwc",
    "conv2d fprop bf16 n1 c128 k128 g2 h7 w7 r3 s3 pad1 nhwc relu",
    "conv2d fprop f32 n2 c32 k32 g4 h14 w14 r3 s3 pad1 bias",
    "conv2d fprop tf32 n2 c64 k64 g8 h14 w14 r3 s3 pad1 nhwc",
    "conv2d fprop f16 n2 c24 k24 g24 h17 w16 r7 s7 pad3",
    "conv1d fprop bf16 n2 c64 k64 g64 w64 s4 causal nhwc bias silu",
    "conv3d fprop f16 n1 c16 k16 g2 d4 h8 w8 t3 r3 s3 pad1 nhwc",
};
// Compiled by nobody before: it is first asked for inside a capture.
constexpr const char* kUnseen = "conv2d fprop f16 n1 c52 k52 g4 h9 w9 r5 s3 stride1x2 pad2x1 nhwc";

class Capture {
 public:
  Capture(const Context& context, GraphTimer& timer, ModeReport& report)
      : context_(context), timer_(timer), report_(report), arena_(context.device) {}

  // Captures one call, with `meanwhile` inside, and judges the replays on two sets of data.
  void run(const char* text, const std::function<void()>& meanwhile) {
    const ConvProblem p = *parse_problem(text);
    const Result<Plan> chosen = plan(p, context_.device);
    if (!chosen) return fail(text, chosen.status().message());
    std::optional<DeviceMirror> mirror;
    const auto replay = [&]() -> Status {
      if (const Result<double> us = timer_.replay_us(); !us) return us.status();
      return mirror->download();
    };
    const auto captured = [&](const Operands& operands) -> Status {
      Result<DeviceMirror> made = DeviceMirror::upload(operands, arena_, timer_.stream());
      if (!made) return made.status();
      mirror = *std::move(made);
      // Once ahead, so that nothing is loaded inside the capture; the replay then runs over NaN.
      if (Status s = chosen->run(mirror->args(), timer_.stream()); !s.ok()) return s;
      if (Status s = mirror->refresh(operands); !s.ok()) return s;
      const Status s = timer_.capture(1, [&](Stream stream, int64_t) {
        meanwhile();
        return chosen->run(mirror->args(), stream);
      });
      return s.ok() ? replay() : s;
    };
    judge(text, p, 1, captured);
    if (!mirror) return;
    judge(text, p, 2, [&](const Operands& operands) -> Status {
      if (Status s = mirror->refresh(operands); !s.ok()) return s;
      return replay();
    });
  }

 private:
  void judge(const char* text, const ConvProblem& p, uint64_t seed,
             const std::function<Status(const Operands&)>& run) {
    const std::string fault = Answer({.problem = p, .seed = seed}).fault_of_run(run);
    ++report_.runs;
    if (!fault.empty()) fail(text, str("data ", seed, ": ", fault));
  }
  void fail(const char* text, const std::string& what) {
    report_.failures.push_back(str(text, ": ", what));
  }

  const Context& context_;
  GraphTimer& timer_;
  ModeReport& report_;
  Arena arena_;
};

}  // namespace

ModeReport run_capture(const Context& context) {
  ModeReport report{.mode = "capture"};
  Result<GraphTimer> timer = GraphTimer::create(context.device);
  if (!timer) {
    report.failures.push_back(timer.status().message());
    return report;
  }
  Capture capture(context, *timer, report);
  for (const char* text : kProblems)
    capture.run(text, [] {});
  // Refused or served, a plan inside a capture must leave the capture whole.
  capture.run(kProblems[0], [&] {
    const Result<Plan> inside = plan(*parse_problem(kUnseen), context.device);
    report.facts["plan_inside_capture"] = inside ? "served" : inside.status().message();
  });
  capture.run(kUnseen, [] {});
  return report;
}

}  // namespace convoy::test
