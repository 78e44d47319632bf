// Compiles device kernels where there is no device and reads their machine code: no stack frame, no
// spills, the instructions that the kernel promises, and no more of them than its budget.
//
// Every kernel, dtype and layout with a range of shapes on sm_90, one shape of each elsewhere.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "base/str.h"
#include "jit/compile.h"
#include "jit/cubin.h"
#include "jit/nvrtc.h"
#include "kernel/kernel.h"
#include "support/devices.h"

namespace convoy::test {
namespace {

constexpr const char* kShapes[] = {
    "conv2d fprop f16 n32 c64 k64 g64 h56 w56 r3 s3 pad1",
    "conv2d fprop f16 n32 c96 k96 g96 h112 w112 r3 s3 stride2 pad1",
    "conv2d fprop f16 n32 c192 k192 g192 h28 w28 r5 s5 pad2 bias relu6",
    "conv2d fprop f16 n32 c96 k96 g96 h56 w56 r7 s7 pad3 bias",
    "conv2d fprop f16 n8 c128 k128 g128 h56 w56 r31 s31 pad15",
    "conv2d fprop f16 n32 c32 k64 g32 h14 w14 r3 s3 pad1 bias silu",
    "conv2d fprop f16 n32 c64 k64 g32 h56 w56 r3 s3 pad1",
    "conv2d fprop f16 n32 c128 k128 g32 h56 w56 r3 s3 pad1 bias relu",
    "conv2d fprop f16 n32 c256 k256 g32 h28 w28 r3 s3 stride2 pad1",
    "conv2d fprop f16 n32 c160 k160 g10 h28 w28 r3 s3 pad1",
    "conv2d fprop f16 n32 c1024 k1024 g32 h14 w14 r3 s3 pad1",
    "conv2d fprop f16 n32 c448 k448 g4 h28 w28 r3 s3 pad1 bias relu",
    "conv2d fprop f16 n64 c240 k240 g3 h28 w28 r1 s1",
    "conv2d fprop f16 n64 c24 k24 g4 h9 w11 r3 s3 pad1 bias gelu",
    "conv2d fprop f16 n32 c256 k256 h28 w28 r3 s3 pad1 bias hardswish",
    "conv2d fprop f16 n32 c256 k256 g32 h28 w28 r3 s3 pad2 dil2",
    "conv3d fprop f16 n8 c64 k128 g32 d8 h28 w28 t3 r3 s3 pad1",
    "conv3d fprop f16 n8 c54 k54 g54 d16 h56 w56 t3 r3 s3 pad1",
    "conv3d fprop f16 n8 c128 k128 d8 h28 w28 t3 r3 s3 pad1",
    "conv1d fprop f16 n8 c4096 k4096 g4096 w2048 s4 causal bias silu",
    "conv1d fprop f16 n5 c272 k32 g16 w94 s3 stride2 pad1",
    "conv2d fprop f16 n1 c288 k16 g16 h9 w9 r3 s1 pad1x0",
    "conv1d fprop f16 n16 c512 k512 g512 w1000 s31 pad15",
    "conv1d fprop f16 n8 c768 k768 g16 w750 s128 pad64",
};
constexpr const char* kArchs[] = {"sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"};
constexpr size_t kMostCubins = 400;
// 16 bytes each: past this the instruction cache thrashes and NVRTC needs over a second.
constexpr int64_t kMostInstructions = 4000;

struct Job {
  const RosterRow* row;
  Source source;
  std::string arch, problem;
};

bool takes(const RosterRow& row, const ConvProblem& p, const DeviceInfo& device) {
  const auto has = [](unsigned set, auto value) {
    return set >> static_cast<unsigned>(value) & 1U;
  };
  return has(row.passes, p.pass) && has(row.dtypes, p.dtype) && has(row.layouts, p.layout) &&
         !row.kernel->declines(p, device);
}

// The distinct sources of one row and dtype and layout on one architecture, in the order of shapes.
void add_jobs(const RosterRow& row, DType dtype, Layout layout, const char* arch, size_t most,
              std::map<std::pair<std::string, std::string>, Job>& all) {
  const DeviceInfo device = described_gpu(arch);
  size_t added = 0;
  for (const char* text : kShapes) {
    ConvProblem p = *parse_problem(text);
    p.dtype = dtype;
    p.layout = layout;
    for (const Pass pass : {Pass::kFprop, Pass::kDgrad, Pass::kWgrad}) {
      p.pass = pass;
      if (pass != Pass::kFprop) {
        p.activation = Activation::kNone;
        p.bias = BiasType::kNone;
      }
      if (added == most || !takes(row, p, device)) continue;
      Source source = row.kernel->source(p, row.kernel->configure(p, device));
      const std::pair key(std::string(arch), source.text);
      added += all.try_emplace(key, Job{&row, std::move(source), arch, to_text(p)}).second;
    }
  }
}

std::vector<Job> jobs() {
  std::map<std::pair<std::string, std::string>, Job> all;
  for (const RosterRow& row : roster()) {
    if (row.kernel->source == nullptr) continue;
    for (const DType dtype : {DType::kF32, DType::kTf32, DType::kF16, DType::kBf16}) {
      for (const Layout layout : {Layout::kNchw, Layout::kNhwc}) {
        for (const char* arch : kArchs) {
          const bool proven = std::string_view(arch) == "sm_90";
          // f16 and f32 meet every shape; bf16 and tf32 differ from them in an operand type.
          const bool whole = dtype == DType::kF16 || dtype == DType::kF32;
          if (!proven && layout == Layout::kNchw && dtype != DType::kF16) continue;
          add_jobs(row, dtype, layout, arch, proven ? (whole ? 99 : 3) : 1, all);
        }
      }
    }
  }
  std::vector<Job> list;
  for (auto& [key, job] : all)
    list.push_back(std::move(job));
  return list;
}

// What must hold of every kernel's machine code.
std::string fault_of(const Job& job, const CubinFacts& facts) {
  if (facts.stack_bytes != 0 || facts.local != 0) {
    return str("a stack frame of ", facts.stack_bytes, " bytes, ", facts.local, " accesses to it");
  }
  if (job.source.matrix && facts.matrix == 0) return "no matrix instruction";
  if (job.source.async_copies && facts.async_copy == 0) return "no asynchronous copy";
  if (facts.instructions > kMostInstructions) return str(facts.instructions, " instructions");
  return {};
}

// Tests run as two processes: half 0 and half 1 of the list.
void compile_half(size_t half) {
  const char* named = std::getenv("CONVOY_NVRTC");
  configure_jit({.nvrtc = named == nullptr ? "" : named});
  if (!load_nvrtc(jit_options())) GTEST_SKIP() << "no NVRTC here: no kernel was compiled";
  const std::vector<Job> all = jobs();
  EXPECT_LE(all.size(), kMostCubins);
  std::map<std::string, int64_t> compiled;
  double slowest_ms = 0, total_ms = 0;
  std::string slowest;
  for (size_t i = half; i < all.size(); i += 2) {
    const Job& job = all[i];
    const Result<Image> image = compile(job.source, job.arch);
    ASSERT_TRUE(image.ok()) << image.status().message() << "\n"
                            << job.problem << "\n"
                            << job.source.text;
    const Result<CubinFacts> facts = inspect(image->cubin);
    ASSERT_TRUE(facts.ok()) << facts.status().message();
    EXPECT_EQ(fault_of(job, *facts), "") << job.arch << " " << job.problem << "\n"
                                         << job.source.text;
    ++compiled[str(job.row->name, " ", job.arch)];
    total_ms += image->compile_ms;
    if (image->compile_ms > slowest_ms) {
      slowest_ms = image->compile_ms;
      slowest = str(job.row->name, " ", job.arch, " ", job.problem);
    }
  }
  for (const auto& [what, count] : compiled)
    std::printf("%s: %lld\n", what.c_str(), static_cast<long long>(count));
  std::printf("%.0f ms in all, the slowest %.0f ms: %s\n", total_ms, slowest_ms, slowest.c_str());
}

TEST(Cubins, FirstHalfIsClean) {
  compile_half(0);
}
TEST(Cubins, SecondHalfIsClean) {
  compile_half(1);
}

}  // namespace
}  // namespace convoy::test
