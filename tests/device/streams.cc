// Plans shared by several threads, each on a stream and operands of its own.
#include <mutex>
#include <thread>

#include "base/str.h"
#include "conformance/trial.h"
#include "device/mirror.h"
#include "device/mode.h"
#include "launch/timer.h"

namespace convoy::test {
namespace {

constexpr int kThreads = 8;
constexpr int kRounds = 40;

constexpr const char* kProblems[] = {
    "conv2d fprop f16 n4 c64 k64 g64 h28 w28 r3 s3 pad1 nhwc bias relu",
    "conv2d fprop f16 n2 c64 k64 g8 h28 w28 r3 s3 pad1 nhwc",
    "conv2d fprop bf16 n2 c64 k128 g2 h14 w14 r3 s3 stride2 pad1 nhwc",
    "conv2d fprop f32 n2 c32 k32 g4 h14 w14 r3 s3 pad1",
    "conv2d fprop f16 n2 c48 k48 g48 h15 w16 r7 s7 pad3",
    "conv1d fprop f16 n2 c64 k64 g64 w100 s4 causal nhwc silu bias",
};

struct Shared {
  Plan plan;
  Answer answer;
};

Result<std::vector<Shared>> make_shared_plans(const Context& context) {
  std::vector<Shared> shared;
  uint64_t seed = context.seed;
  for (const char* text : kProblems) {
    const ConvProblem p = *parse_problem(text);
    const Result<Plan> chosen = plan(p, context.device);
    if (!chosen) return chosen.status();
    Question q{.problem = p, .seed = ++seed};
    q.data = seed % 2 == 0 ? Data::kReals : Data::kIntegers;
    shared.push_back({*chosen, Answer(q)});
  }
  return shared;
}

}  // namespace

ModeReport run_streams(const Context& context) {
  ModeReport report{.mode = "streams"};
  const Result<std::vector<Shared>> shared = make_shared_plans(context);
  if (!shared) {
    report.failures.push_back(shared.status().message());
    return report;
  }
  std::mutex mutex;
  const auto work = [&](int thread) {
    Arena arena(context.device);
    const Result<OwnStream> timer = OwnStream::create(context.device);
    for (int round = 0; round < kRounds; ++round) {
      const Shared& one = (*shared)[static_cast<size_t>(thread + round) % shared->size()];
      const std::string fault =
          !timer ? timer.status().message()
                 : one.answer.fault_of_run([&](const Operands& operands) {
                     return run_on_device(one.plan, operands, arena, timer->stream());
                   });
      const std::scoped_lock lock(mutex);
      ++report.runs;
      if (fault.empty() || report.failures.size() >= 20) continue;
      report.failures.push_back(
          str(to_text(one.plan.problem()), " thread ", thread, " round ", round, ": ", fault));
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back(work, i);
  for (std::thread& thread : threads)
    thread.join();
  report.facts = {{"threads", kThreads}, {"plans", shared->size()}};
  return report;
}

}  // namespace convoy::test
