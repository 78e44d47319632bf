// The choice among CUDA kernels on described GPUs: nothing is compiled and no device is needed.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "conformance/runs.h"
#include "kernel/kernel.h"
#include "plan/choose.h"
#include "support/devices.h"
#include "support/problems.h"

namespace convoy::test {
namespace {

constexpr const char* kArchs[] = {"sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"};

bool computes(Pass pass) {
  for (const RosterRow& row : roster()) {
    const bool has = (row.passes >> static_cast<unsigned>(pass) & 1U) != 0;
    if (row.backend == Backend::kCuda && has) return true;
  }
  return false;
}

// Calls f(problem, choice) for random problems of every pass that the backend computes.
template <class F>
void for_each_choice(const DeviceInfo& info, uint64_t draws, F&& f) {
  for (uint64_t seed = 0; seed < draws; ++seed) {
    Random r(seed);
    const ConvProblem p = random_problem(r);
    if (!computes(p.pass)) continue;
    const Result<Choice> choice = choose(p, Device(info), {});
    ASSERT_TRUE(choice) << to_text(p) << " on " << info.arch << ": " << choice.status().message();
    f(p, *choice);
  }
}

TEST(CudaDispatch, EveryProblemHasATakerOnEveryArchitecture) {
  ASSERT_TRUE(computes(Pass::kFprop));
  for (const char* arch : kArchs) {
    int64_t taken = 0;
    for_each_choice(described_gpu(arch), 1000, [&](const ConvProblem&, const Choice& choice) {
      EXPECT_EQ(choice.chosen().row->backend, Backend::kCuda);
      ++taken;
    });
    EXPECT_GE(taken, 800) << arch;
  }
}

// A kernel with 32-bit offsets then declines or takes its 64-bit form; somebody always serves.
TEST(CudaDispatch, TensorsPastTheIndexLimitHaveATakerToo) {
  DeviceInfo info = described_gpu("sm_90");
  info.index_limit = 1;
  for_each_choice(info, 300, [](const ConvProblem&, const Choice&) {});
}

TEST(CudaDispatch, TheLowestEstimateWinsAndEveryoneHasAReason) {
  for (const char* arch : {"sm_80", "sm_90"}) {
    for_each_choice(described_gpu(arch), 300, [&](const ConvProblem& p, const Choice& choice) {
      double best = std::numeric_limits<double>::infinity();
      for (const Accepted& a : choice.accepted) {
        EXPECT_TRUE(std::isfinite(a.estimate_us)) << a.row->name << " " << to_text(p);
        EXPECT_FALSE(a.config.text.empty()) << a.row->name;
        if (!a.row->reference) best = std::min(best, a.estimate_us);
      }
      if (!choice.chosen().row->reference) {
        EXPECT_EQ(choice.chosen().estimate_us, best) << to_text(p);
      }
      for (const Candidate& c : choice.explanation.candidates)
        EXPECT_FALSE(c.reason.empty()) << c.kernel << " " << to_text(p);
    });
  }
}

// With its batch and groups unknown to the compiler, a configuration serves every size: the text
// that is compiled must not change with what is an argument.
TEST(CudaDispatch, NewSizesDoNotCompile) {
  const Device device(described_gpu("sm_90"));
  for (const char* text : {"conv2d fprop f16 n8 c64 k64 g64 h28 w28 r3 s3 pad1 nhwc",
                           "conv2d fprop bf16 n8 c64 k64 g8 h28 w28 r3 s3 pad1",
                           "conv1d fprop f32 n4 c32 k32 g4 w200 s5 pad2 nhwc"}) {
    const ConvProblem p = *parse_problem(text);
    const Result<Choice> all = choose(p, device, {});
    ASSERT_TRUE(all);
    for (const Accepted& a : all->accepted) {
      if (std::string_view(a.row->name).find("general") == std::string_view::npos) continue;
      ConvProblem other = p;
      other.N = 3;
      other.in[2] += 8;
      const Config config = a.row->kernel->configure(other, device.info());
      EXPECT_EQ(a.row->kernel->source(p, a.config).text, a.row->kernel->source(other, config).text)
          << text << " " << a.row->name;
    }
  }
}

}  // namespace
}  // namespace convoy::test
