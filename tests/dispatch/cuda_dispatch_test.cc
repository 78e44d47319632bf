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

struct Pin {
  const char* problem;
  const char* arch;
  const char* kernel;
};

// Estimates decide, so a changed winner is a change of the cost model and of this table, in one
// commit. Problems that only the general kernel takes so far are not pinned.
constexpr Pin kPins[] = {
    {"conv2d fprop f16 n32 c144 k144 g144 h56 w56 r3 s3 pad1 nhwc", "sm_90",
     "cuda_block_diagonal_fprop_sm80"},
    {"conv2d fprop bf16 n128 c192 k192 g192 h28 w28 r5 s5 pad2 nhwc bias relu6", "sm_90",
     "cuda_block_diagonal_fprop_sm80"},
    {"conv2d fprop f16 n32 c96 k96 g96 h56 w56 r7 s7 pad3 nhwc bias", "sm_90",
     "cuda_block_diagonal_fprop_sm80"},
    {"conv2d fprop f16 n32 c64 k64 g32 h56 w56 r3 s3 pad1 nhwc", "sm_90",
     "cuda_block_diagonal_fprop_sm80"},
    {"conv2d fprop f16 n32 c128 k128 g32 h56 w56 r3 s3 pad1 nhwc bias relu", "sm_90",
     "cuda_block_diagonal_fprop_sm80"},
    {"conv2d fprop f16 n32 c256 k256 g32 h28 w28 r3 s3 stride2 pad1 nhwc", "sm_90",
     "cuda_block_diagonal_fprop_sm80"},
    {"conv2d fprop bf16 n32 c160 k160 g10 h28 w28 r3 s3 pad1 nhwc", "sm_90",
     "cuda_block_diagonal_fprop_sm80"},
    {"conv2d fprop f16 n32 c1024 k1024 g32 h14 w14 r3 s3 pad1 nhwc", "sm_90",
     "cuda_block_diagonal_fprop_sm80"},
    {"conv2d fprop tf32 n32 c1024 k1024 g32 h14 w14 r3 s3 pad1 nhwc", "sm_90",
     "cuda_igemm_fprop_sm80"},
    {"conv2d fprop f16 n128 c448 k448 g4 h28 w28 r3 s3 pad1 nhwc bias relu", "sm_90",
     "cuda_igemm_fprop_sm80"},
    {"conv2d fprop f16 n64 c240 k240 g3 h28 w28 r1 s1 nhwc", "sm_90", "cuda_igemm_fprop_sm80"},
    {"conv2d fprop f16 n32 c256 k256 h28 w28 r3 s3 pad1 nhwc", "sm_90", "cuda_igemm_fprop_sm80"},
    {"conv2d fprop f16 n32 c256 k256 g32 h28 w28 r3 s3 pad2 dil2 nhwc", "sm_90",
     "cuda_block_diagonal_fprop_sm80"},
    {"conv3d fprop f16 n8 c64 k128 g32 d8 h28 w28 t3 r3 s3 pad1 nhwc", "sm_90",
     "cuda_block_diagonal_fprop_sm80"},
    {"conv1d fprop f16 n8 c4096 k4096 g4096 w2048 s4 causal nhwc bias silu", "sm_90",
     "cuda_direct_fprop"},
    {"conv1d fprop bf16 n16 c512 k512 g512 w1000 s31 pad15 nhwc", "sm_90",
     "cuda_block_diagonal_fprop_sm80"},
    {"conv1d fprop f16 n8 c768 k768 g16 w750 s128 pad64 nhwc", "sm_90", "cuda_igemm_fprop_sm80"},
    {"conv2d fprop f16 n1 c256 k256 g32 h14 w14 r3 s3 pad1 nhwc", "sm_90",
     "cuda_block_diagonal_fprop_sm80"},
    {"conv2d fprop f16 n32 c144 k144 g144 h56 w56 r3 s3 pad1 nhwc", "sm_80",
     "cuda_block_diagonal_fprop_sm80"},
    {"conv2d fprop bf16 n128 c192 k192 g192 h28 w28 r5 s5 pad2 nhwc bias relu6", "sm_80",
     "cuda_block_diagonal_fprop_sm80"},
    {"conv2d fprop f16 n32 c96 k96 g96 h56 w56 r7 s7 pad3 nhwc bias", "sm_80",
     "cuda_block_diagonal_fprop_sm80"},
    {"conv2d fprop f16 n32 c64 k64 g32 h56 w56 r3 s3 pad1 nhwc", "sm_80",
     "cuda_block_diagonal_fprop_sm80"},
    {"conv2d fprop f16 n32 c128 k128 g32 h56 w56 r3 s3 pad1 nhwc bias relu", "sm_80",
     "cuda_block_diagonal_fprop_sm80"},
    {"conv2d fprop f16 n32 c256 k256 g32 h28 w28 r3 s3 stride2 pad1 nhwc", "sm_80",
     "cuda_block_diagonal_fprop_sm80"},
    {"conv2d fprop bf16 n32 c160 k160 g10 h28 w28 r3 s3 pad1 nhwc", "sm_80",
     "cuda_block_diagonal_fprop_sm80"},
    {"conv2d fprop f16 n32 c1024 k1024 g32 h14 w14 r3 s3 pad1 nhwc", "sm_80",
     "cuda_block_diagonal_fprop_sm80"},
    {"conv2d fprop tf32 n32 c1024 k1024 g32 h14 w14 r3 s3 pad1 nhwc", "sm_80",
     "cuda_igemm_fprop_sm80"},
    {"conv2d fprop f16 n128 c448 k448 g4 h28 w28 r3 s3 pad1 nhwc bias relu", "sm_80",
     "cuda_igemm_fprop_sm80"},
    {"conv2d fprop f16 n64 c240 k240 g3 h28 w28 r1 s1 nhwc", "sm_80", "cuda_igemm_fprop_sm80"},
    {"conv2d fprop f16 n32 c256 k256 h28 w28 r3 s3 pad1 nhwc", "sm_80", "cuda_igemm_fprop_sm80"},
    {"conv2d fprop f16 n32 c256 k256 g32 h28 w28 r3 s3 pad2 dil2 nhwc", "sm_80",
     "cuda_block_diagonal_fprop_sm80"},
    {"conv3d fprop f16 n8 c64 k128 g32 d8 h28 w28 t3 r3 s3 pad1 nhwc", "sm_80",
     "cuda_block_diagonal_fprop_sm80"},
    {"conv1d fprop f16 n8 c4096 k4096 g4096 w2048 s4 causal nhwc bias silu", "sm_80",
     "cuda_direct_fprop"},
    {"conv1d fprop bf16 n16 c512 k512 g512 w1000 s31 pad15 nhwc", "sm_80",
     "cuda_block_diagonal_fprop_sm80"},
    {"conv1d fprop f16 n8 c768 k768 g16 w750 s128 pad64 nhwc", "sm_80", "cuda_igemm_fprop_sm80"},
    {"conv2d fprop f16 n1 c256 k256 g32 h14 w14 r3 s3 pad1 nhwc", "sm_80",
     "cuda_block_diagonal_fprop_sm80"},
};

struct DeclinePin {
  const char* problem;
  const char* kernel;
  const char* reason;  // a part of it
};
constexpr DeclinePin kDeclines[] = {
    {"conv2d fprop f16 n32 c144 k144 g144 h56 w56 r3 s3 pad1 nhwc", "cuda_igemm_fprop_sm80",
     "input channels per group"},
    {"conv2d fprop f16 n32 c144 k144 g144 h56 w56 r3 s3 pad1", "cuda_block_diagonal_fprop_sm80",
     "layout nchw"},
    {"conv2d fprop f16 n32 c256 k256 h28 w28 r3 s3 pad1 nhwc", "cuda_block_diagonal_fprop_sm80",
     "up to 32 channels"},
    {"conv2d fprop tf32 n32 c128 k128 g32 h56 w56 r3 s3 pad1 nhwc",
     "cuda_block_diagonal_fprop_sm80", "dtype tf32"},
};

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

TEST(CudaDispatch, NamedProblemsGoToTheirKernel) {
  for (const Pin& pin : kPins) {
    const Result<Choice> choice =
        choose(*parse_problem(pin.problem), Device(described_gpu(pin.arch)), {});
    ASSERT_TRUE(choice) << choice.status().message();
    EXPECT_EQ(std::string(choice->chosen().row->name), pin.kernel)
        << pin.problem << " " << pin.arch;
  }
}

TEST(CudaDispatch, DeclinesSayWhy) {
  for (const DeclinePin& pin : kDeclines) {
    const Result<Choice> choice =
        choose(*parse_problem(pin.problem), Device(described_gpu("sm_90")), {});
    ASSERT_TRUE(choice) << choice.status().message();
    bool found = false;
    for (const Candidate& c : choice->explanation.candidates) {
      if (c.kernel != pin.kernel) continue;
      found = true;
      EXPECT_EQ(c.verdict, Verdict::kDeclined) << pin.problem;
      EXPECT_NE(c.reason.find(pin.reason), std::string::npos) << c.reason;
    }
    EXPECT_TRUE(found) << pin.kernel;
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
