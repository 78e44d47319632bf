// Every fault that validate() must find, each proven by the good manifest with one edit.
#include <gtest/gtest.h>

#include "manifest/broken.h"
#include "manifest/embedded.h"

namespace convoy::manifest {
namespace {

const std::string kOps(kOpsFile), kKernels(kKernelsFile), kMachines(kMachinesFile);
const std::string kMobile = "workloads/mobilenet.yaml";

TEST(Validate, TheManifestIsSound) {
  const Result<std::vector<Fault>> found = validate(std::string(CONVOY_MANIFEST_DIR), kernels());
  ASSERT_TRUE(found.ok()) << found.status().message();
  EXPECT_EQ(Checkout::listing(*found), "");
  const Checkout smaller;
  EXPECT_EQ(Checkout::listing(smaller.faults()), "");
}

TEST(Validate, TheBuiltInCopyIsTheManifest) {
  const Result<std::vector<File>> files = load(CONVOY_MANIFEST_DIR);
  ASSERT_TRUE(files.ok());
  const std::vector<File> copy = embedded();
  ASSERT_EQ(copy.size(), files->size());
  for (size_t i = 0; i < copy.size(); ++i) {
    EXPECT_EQ(copy[i].path, (*files)[i].path);
    EXPECT_EQ(copy[i].text, (*files)[i].text) << copy[i].path;
  }
  EXPECT_TRUE(validate(embedded(), kernels(), "").empty());
}

TEST(Validate, WorkloadsOfTheLibraryAreThoseOfTheManifest) {
  std::vector<Fault> none;
  const Manifest manifest = read(embedded(), none);
  ASSERT_EQ(workloads().size(), manifest.workloads.size());
  for (size_t i = 0; i < workloads().size(); ++i) {
    const Workload& w = workloads()[i];
    const WorkloadRow& row = manifest.workloads[i];
    EXPECT_EQ(w.name, row.name);
    EXPECT_EQ(w.problem, to_text(*row.parsed));
    EXPECT_EQ(w.model, row.model);
    EXPECT_EQ(std::vector<std::string>(w.suites.begin(), w.suites.end()), row.suites);
  }
}

// One edit, one fault.
struct Edit {
  const char* what;
  std::string file, anchor, from, to;
  std::string part;  // of the message
  int offset = 0;    // the fault's line, counted from the edit
};

void expect_faults(const std::vector<Edit>& edits) {
  for (const Edit& e : edits) {
    SCOPED_TRACE(e.what);
    Checkout broken;
    const int line = broken.edit(e.file, e.anchor, e.from, e.to);
    broken.expect_fault(e.file, line + e.offset, e.part);
  }
}

TEST(Validate, UnknownKeys) {
  expect_faults({
      {"op", kOps, "conv2d_fprop", "    flops:", "    flop: 1\n    flops:", "unknown key 'flop'"},
      {"operand", kOps, "conv2d_fprop", "x: {role: in", "x: {rol: 1, role: in",
       "op conv2d_fprop operand x: unknown key 'rol'"},
      {"status", kOps, "conv2d_fprop", "cpu: exp", "tpu: x, cpu: exp", "unknown key 'tpu'"},
      {"params", kOps, "conv2d_fprop", "{g: 1", "{groups: 1, g: 1",
       "unknown key 'groups' in params"},
      {"shape", kOps, "op: conv2d_fprop",
       "      P:", "      Z: 1\n      P:", "unknown key 'Z' in shape"},
      {"kernel", kKernels, "", "    arch:", "    tile: 8\n    arch:", "kernel: unknown key 'tile'"},
      {"machine", kMachines, "", "    arch:", "    os: x\n    arch:", "machine: unknown key 'os'"},
      {"peak", kMachines, "", "copy_gbs:", "copy_tbs:", "unknown peak 'copy_tbs'"},
      {"workload", kMobile, "", "    model:", "    paper: x\n    model:", "unknown key 'paper'"},
      {"file", kMobile, "", "workloads:", "more: []\nworkloads:", "unknown key 'more'"},
  });
}

TEST(Validate, WrongTypes) {
  expect_faults({
      {"rank", kOps, "op: conv2d_fprop", "rank: 2", "rank: two", "rank 'two' must be an integer"},
      {"rank 4", kOps, "op: conv2d_fprop", "rank: 2", "rank: 4", "rank 4 must be 1, 2 or 3", -1},
      {"dtype", kOps, "op: conv2d_fprop", "dtypes: [f32,", "dtypes: [f31, f32,",
       "dtypes 'f31' must be one of f32, tf32, f16, bf16"},
      {"twice", kOps, "op: conv2d_fprop", "dtypes: [f32,", "dtypes: [f32, f32,",
       "lists 'f32' twice"},
      {"rule", kOps, "op: conv2d_fprop", "- N >= 0", "- [1]\n      - N >= 0", "rules is a list"},
      {"flag", kKernels, "", "reference: true\n", "reference: yes\n",
       "'yes' must be true or false"},
      {"arch", kKernels, "", "arch: baseline", "arch: avx1024",
       "arch 'avx1024' is no floor of cpu"},
      {"suites", kMobile, "", "suites: [mobilenet]", "suites: mobilenet", "suites is a scalar"},
      {"number", kMachines, "", "datasheet: 4800", "datasheet: much", "must be a positive number"},
      {"date", kMachines, "", "when: 2026-11-30", "when: today", "must be a date"},
      {"name", kMobile, "", "name: m", "name: M", "may hold a-z 0-9"},
  });
}

TEST(Validate, MissingKeys) {
  expect_faults({
      {"model", kMobile, "", "    model: MobileNetV2 1.0 (Sandler et al. 2018)\n", "",
       "key 'model' is missing", -2},
      {"how", kMachines, "", "how: device copy of 256 MB in and 256 MB out, ", "",
       "key 'how' is missing"},
      {"unmeasured", kMachines, "", "measured: unmeasured", "measured: unmeasured, how: x",
       "how is given for a peak that is unmeasured"},
      {"default", kOps, "op: conv2d_fprop", "g: 1, ", "", "params lack 'g'", -12},
  });
}

TEST(Validate, FormulasThatCannotBeEvaluated) {
  expect_faults({
      {"syntax", kOps, "op: conv2d_fprop", "flops: 2*N", "flops: 2**N", "a number, a letter"},
      {"on two lines", kOps, "op: conv2d_fprop", "flops: 2*N",
       "flops: |\n      2 N\n      3\n    #", "formula '2 N 3 ': an operator expected before 'N'",
       0},
      {"letter of another rank", kOps, "op: conv2d_fprop", "flops: 2*N", "flops: 2*T*N",
       "unknown letter 'T'"},
      {"division by zero", kOps, "op: conv2d_fprop", "P: floor_div(H",
       "P: floor_div(1, pad_h_begin) + floor_div(H", "divisor 0 must be 1 or more"},
      {"rule", kOps, "op: conv2d_fprop", "- N >= 0", "- cpg >= 0", "unknown letter 'cpg'"},
      {"operand", kOps, "op: conv2d_fprop", "[N, G*cpg,", "[N, GG*cpg,", "unknown letter 'GG'"},
  });
}

TEST(Validate, RulesThatDisagreeWithTheShapeFunction) {
  expect_faults({
      {"extent", kOps, "op: conv2d_fprop", "stride_h) + 1", "stride_h)",
       "shape P gives 2, the C++ shape function gives 3"},
      {"rounding", kOps, "op: conv1d_fprop", "Q: floor_div", "Q: ceil_div", "shape Q gives"},
      {"wrong axis", kOps, "op: conv2d_fprop", "stride_w) + 1", "stride_h) + 1", "shape Q gives"},
      {"one pad", kOps, "op: conv3d_fprop", "D + pad_d_begin + pad_d_end - ",
       "D + 2*pad_d_begin - ", "shape Z gives"},
      {"no dilation", kOps, "op: conv3d_wgrad", "- dil_h*(R - 1) - 1", "- R", "shape P gives"},
      {"operand", kOps, "op: conv2d_dgrad", "w: {role: in, shape: [K, cpg",
       "w: {role: in, shape: [K, kpg", "operand w axis 1 gives"},
      {"rule too strict", kOps, "op: conv2d_fprop", "N >= 0", "N >= 1",
       "rule refuses what the code takes"},
      {"rule too loose", kOps, "op: conv2d_fprop", "G*floor_div(C, G) == C and ", "",
       "rules take what the code refuses", -1},
      {"default", kOps, "op: conv2d_fprop", "pad: 0", "pad: 1", "params pad=1 is not the default"},
      {"layout", kOps, "op: conv2d_fprop", "[nchw, nhwc]", "[nhwc, nchw]",
       "layouts must begin with the default nchw", -9},
  });
}

TEST(Validate, CostsThatDisagreeWithTheLoopNest) {
  expect_faults({
      {"C for cpg", kOps, "op: conv2d_fprop", "*cpg*R*S\n", "*C*R*S\n", "flops gives"},
      {"no factor 2", kOps, "op: conv3d_dgrad", "flops: 2*N", "flops: N", "flops gives"},
      {"input extent", kOps, "op: conv1d_wgrad", "flops: 2*N*K*Q", "flops: 2*N*K*W", "flops gives"},
      {"whole x", kOps, "op: conv2d_fprop", "read_h", "H", "bytes gives"},
      {"no bias", kOps, "op: conv2d_fprop", " + bias_size*K", "", "bytes gives"},
      {"no size", kOps, "op: conv2d_fprop", "bytes: size*", "bytes: 4*", "bytes gives"},
  });
}

TEST(Validate, OptionsThatDisagreeWithTheCode) {
  expect_faults({
      {"refused", kOps, "op: conv2d_dgrad", "activation: [none]", "activation: [none, relu]",
       "activation 'relu' is listed but the code refuses it", -10},
  });
  Checkout broken;
  std::filesystem::remove(broken.folder() + "/workloads/options.yaml");  // it shows the option
  const int line =
      broken.edit(kOps, "op: conv1d_wgrad", "[none, bias, \"bias:f32\"]", "[none, bias]");
  broken.expect_fault(kOps, line - 10, "bias 'bias:f32' is taken by the code but not listed");
}

TEST(Validate, KernelRowWithoutCode) {
  Checkout broken;
  const int line =
      broken.edit(kKernels, "", "kernels:\n",
                  "kernels:\n  - name: cpu_ghost\n    backend: cpu\n    passes: [fprop]\n"
                  "    dtypes: [f32]\n    layouts: [nchw]\n    arch: baseline\n");
  broken.expect_fault(kKernels, line + 1, "kernel cpu_ghost: the row has no code in this build");
}

TEST(Validate, CodeWithoutRowAndRowsThatDiffer) {
  const std::vector<File> files = embedded();
  std::vector<KernelFacts> code = kernels();
  code.push_back(code[0]);
  code.back().name = "cpu_unlisted";
  std::vector<Fault> found = validate(files, code, "");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].file, kKernels);
  EXPECT_EQ(found[0].message, "kernel cpu_unlisted: the code has no row; add it");

  code = kernels();
  code[0].dtypes.pop_back();
  code[0].reference = !code[0].reference;
  found = validate(files, code, "");
  ASSERT_EQ(found.size(), 2U);
  EXPECT_NE(found[0].message.find("dtypes differ from this build"), std::string::npos);
  EXPECT_NE(found[1].message.find("reference differ from this build"), std::string::npos);
}

TEST(Validate, Workloads) {
  expect_faults({
      {"text", kMobile, "", "h112 w112", "h112 v112", "unknown token 'v112'"},
      {"illegal", kMobile, "", "g32", "g33", "groups g=33 must divide c=32"},
      {"huge axis", kMobile, "", "h112 w112", "h112 w100000000000", "an axis has more than 2^24"},
      {"many taps", kMobile, "", "h112 w112 r3 s3", "h112 w9000000 r3 s9000", "an axis has more"},
      {"suite", kMobile, "", "[mobilenet]", "[mobile]", "unknown suite 'mobile'"},
      {"all", kMobile, "", "[mobilenet]", "[all]", "unknown suite 'all'"},
      {"name", kMobile, "", "mobilenetv2-dw32x112s1-n8\n", "mobilenetv2-dw32x112s1-n1\n",
       "name 'mobilenetv2-dw32x112s1-n1' stands twice"},
      {"across files", "workloads/video.yaml", "", "x3d-m-dw-54x16x56-n1\n",
       "mobilenetv2-dw32x112s1-n1\n", "stands twice"},
  });
}

TEST(Validate, WorkloadsThatNoOpCovers) {
  Checkout broken;
  broken.edit(kOps, "op: conv3d_fprop", "dtypes: [f32, tf32, f16, bf16]",
              "dtypes: [f32, tf32, bf16]");
  const std::string file = "workloads/tileops.yaml", text = broken.text(file);
  const auto row = text.begin() + text.find("conv3d fprop f16");
  broken.expect_among(file, 1 + static_cast<int>(std::count(text.begin(), row, '\n')),
                      "op conv3d_fprop does not list dtype f16");
}

TEST(Validate, HostileFilesGiveOneFault) {
  for (const std::string& text :
       {std::string(), std::string("workloads: 3\n"), std::string("[]\n"), std::string("x"),
        std::string(2 << 20, 'a'), std::string(100000, '['), std::string("a: &a [*a]\n")}) {
    Checkout broken;
    broken.write("manifest/workloads/zz.yaml", text);
    const std::vector<Fault> found = broken.faults();
    ASSERT_EQ(found.size(), 1U) << Checkout::listing(found);
    EXPECT_EQ(found[0].file, "workloads/zz.yaml");
  }
}

// A manifest cut anywhere never crashes, and never passes unless only blanks went.
TEST(Validate, TruncatedOpsGiveFaults) {
  const Checkout good;
  const std::string text = good.text(kOps);
  for (size_t length = 0; length + 1 < text.size(); length += 997) {
    std::vector<File> files = embedded();
    files[0].text.resize(length);
    EXPECT_FALSE(validate(files, kernels(), "").empty()) << length;
  }
}

TEST(Validate, MissingFilesAreAnError) {
  Checkout broken;
  std::filesystem::remove(broken.folder() + "/kernels.yaml");
  const auto found = validate(broken.folder(), kernels());
  ASSERT_FALSE(found.ok());
  EXPECT_NE(found.status().message().find("kernels.yaml is missing"), std::string::npos);
  EXPECT_FALSE(validate(broken.folder() + "/nowhere", kernels()).ok());
}

}  // namespace
}  // namespace convoy::manifest
