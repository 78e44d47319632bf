// `implemented` needs workloads, tests and records; anything above spec-only needs a kernel.
#include <gtest/gtest.h>

#include "manifest/broken.h"
#include "manifest/embedded.h"

namespace convoy::manifest {
namespace {

const std::string kOps(kOpsFile), kKernels(kKernelsFile);
constexpr const char* kTest = "// t\nTEST(Sweep, Dgrad) {}\n";

// conv2d_dgrad claims four dtypes and no option; this names a test for each.
std::string tests_for(const std::string& f16) {
  return "status: {cpu: implemented, cuda: spec-only, hip: spec-only}\n"
         "    tests:\n      cpu:\n        f32: tests/a_test.cc:Sweep.Dgrad\n"
         "        tf32: tests/a_test.cc:Sweep.Dgrad\n        f16: " +
         f16 + "\n        bf16: tests/a_test.cc:Sweep.Dgrad\n";
}

constexpr const char* kStatus = "status: {cpu: experimental, cuda: experimental, hip: spec-only}\n";

// The good manifest with an implemented conv2d_dgrad and all its evidence.
class Implemented : public testing::Test {
 protected:
  void claim(const std::string& f16 = "tests/a_test.cc:Sweep.Dgrad") {
    line_ = checkout_.edit(kOps, "op: conv2d_dgrad", kStatus, tests_for(f16));
    checkout_.write("tests/a_test.cc", kTest);
    checkout_.write(
        "manifest/workloads/extra.yaml",
        "workloads:\n"
        "  - {name: extra-f16, problem: conv2d dgrad f16 n1 c1 k1 h1 w1 r1 s1, model: m}\n");
  }
  // A second dgrad kernel that is no reference, in row and facts.
  std::vector<Fault> faults_with_kernel() {
    checkout_.edit(kKernels, "", "kernels:\n",
                   "kernels:\n  - name: cpu_other_dgrad\n    backend: cpu\n    passes: [dgrad]\n"
                   "    dtypes: [f32, f16]\n    layouts: [nchw]\n    arch: avx2\n");
    std::vector<KernelFacts> code = kernels();
    code.push_back({.name = "cpu_other_dgrad",
                    .backend = Backend::kCpu,
                    .passes = {Pass::kDgrad},
                    .dtypes = {DType::kF32, DType::kF16},
                    .layouts = {Layout::kNchw},
                    .reference = false});
    return *validate(checkout_.folder(), code);
  }

  Checkout checkout_;
  int line_ = 0;
};

TEST_F(Implemented, WithAllEvidenceIsSound) {
  claim();
  EXPECT_EQ(Checkout::listing(checkout_.faults()), "");
}

TEST_F(Implemented, NeedsAWorkloadForEachDtype) {
  claim();
  checkout_.write("manifest/workloads/extra.yaml",
                  "workloads:\n"
                  "  - {name: extra, problem: conv2d dgrad f32 n1 c1 k1 h1 w1 r1 s1, model: m}\n");
  checkout_.expect_fault(kOps, line_,
                         "op conv2d_dgrad status cpu: implemented but no workload with f16");
}

TEST_F(Implemented, NeedsAWorkloadForEachOption) {
  const int line =
      checkout_.edit(kOps, "op: conv3d_fprop", "cpu: experimental", "cpu: implemented");
  std::filesystem::remove(checkout_.folder() + "/workloads/options.yaml");
  checkout_.expect_among(kOps, line, "no workload with hardswish; add one");
  checkout_.expect_among(kOps, line, "no workload with bias:f32; add one");
}

TEST_F(Implemented, NeedsATestForEachDtypeAndOption) {
  claim();
  const int gone =
      checkout_.edit(kOps, "op: conv2d_dgrad", "        f16: tests/a_test.cc:Sweep.Dgrad\n", "");
  ASSERT_GT(gone, 0);
  checkout_.expect_fault(kOps, line_, "implemented but no test for f16; name one under tests");
}

TEST_F(Implemented, TestsMustExist) {
  for (const char* test : {"tests/a_test.cc:Sweep.Dgra", "tests/b_test.cc:Sweep.Dgrad",
                           "tests/a_test.cc", "Sweep.Dgrad", "tests/a_test.cc:Dgrad.Sweep"}) {
    Checkout broken;
    const int line = broken.edit(kOps, "op: conv2d_dgrad", kStatus, tests_for(test));
    broken.write("tests/a_test.cc", kTest);
    broken.expect_among(kOps, line + 5, "for f16 does not exist");
  }
}

TEST_F(Implemented, NeedsARecordPerKernelAndDtype) {
  claim();
  checkout_.write("bench/records/m/a.json",
                  R"({"rows": [{"kernel": "cpu_other_dgrad",
                       "problem": "conv2d dgrad f32 n1 c1 k1 h1 w1 r1 s1"}]})");
  const std::vector<Fault> found = faults_with_kernel();
  ASSERT_EQ(found.size(), 1U) << Checkout::listing(found);
  EXPECT_EQ(found[0].line, line_);
  EXPECT_NE(found[0].message.find("no measured record for kernel cpu_other_dgrad in f16"),
            std::string::npos);
}

TEST_F(Implemented, BrokenRecordsAreNoEvidence) {
  claim();
  checkout_.write("bench/records/m/a.json", "{\"rows\": [{\"kernel\": \"cpu_other_dg");
  checkout_.write("bench/records/m/b.json",
                  R"({"rows": [3, {"kernel": 1}, {"kernel": "cpu_other_dgrad"}]})");
  checkout_.write("bench/records/m/c.json", R"({"rows": 3})");
  EXPECT_EQ(faults_with_kernel().size(), 2U);  // f32 and f16
}

TEST(Experimental, NeedsAKernelForEachDtype) {
  Checkout broken;
  const int line = broken.edit(kOps, "op: conv2d_fprop", "hip: spec-only", "hip: experimental");
  broken.expect_among(
      kOps, line, "op conv2d_fprop status hip: experimental but no kernel row for fprop in bf16");
}

}  // namespace
}  // namespace convoy::manifest
