// Plans: the choice and its explanation, forced kernels, packed weights, workspace, empty batches.
#include <convoy/convoy.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "kernel/kernel.h"
#include "support/oracle.h"

namespace convoy {
namespace {

using test::packed_form;
using test::Storage;

ConvProblem problem(const char* text) {
  return *parse_problem(text);
}

TEST(Plan, ExplainsEveryCandidate) {
  const ConvProblem p = problem("conv2d fprop f32 n1 c8 k8 g8 h8 w8 r3 s3 pad1");
  const Plan chosen = *plan(p, *device());
  const Explanation& e = chosen.explain();
  size_t rows = 0;
  for (const RosterRow& row : roster())
    rows += row.backend == Backend::kCpu;
  EXPECT_EQ(e.candidates.size(), rows);
  int winners = 0;
  for (const Candidate& c : e.candidates) {
    EXPECT_FALSE(c.reason.empty()) << c.kernel;
    winners += c.verdict == Verdict::kChosen;
    if (c.verdict == Verdict::kChosen) {
      EXPECT_EQ(c.kernel, chosen.kernel());
    }
    if (c.verdict != Verdict::kDeclined) {
      EXPECT_GT(c.estimate_us, 0) << c.kernel;
    }
  }
  EXPECT_EQ(winners, 1);
  EXPECT_EQ(e.flops, flops(p));
  EXPECT_EQ(e.bytes, bytes(p));
  EXPECT_GE(e.executed_flops, e.flops);
  EXPECT_GT(e.limit.us, 0);
  EXPECT_EQ(chosen.problem(), p);
  EXPECT_STREQ(name(Verdict::kDeclined), "declined");
}

TEST(Plan, AForcedKernelRunsOrIsRefused) {
  const ConvProblem p = problem("conv2d fprop f32 n1 c8 k8 g8 h8 w8 r3 s3 pad1");
  for (const KernelFacts& row : kernels()) {
    const Result<Plan> forced = plan(p, *device(), {.kernel = row.name});
    if (forced) {
      EXPECT_EQ(forced->kernel(), row.name);
    } else {
      EXPECT_EQ(forced.status().code(), Code::kUnsupported);
      EXPECT_NE(forced.status().message().find(row.name), std::string::npos);
    }
    const bool right_pass = std::count(row.passes.begin(), row.passes.end(), Pass::kFprop) > 0;
    if (!right_pass) {
      EXPECT_FALSE(forced);
    }
  }
  const Result<Plan> unknown = plan(p, *device(), {.kernel = "no_such_kernel"});
  EXPECT_EQ(unknown.status().code(), Code::kInvalid);
  EXPECT_NE(unknown.status().message().find("'no_such_kernel'"), std::string::npos);
}

TEST(Plan, RefusesABrokenProblem) {
  ConvProblem p = problem("conv2d fprop f32 n1 c8 k8 g8 h8 w8 r3 s3 pad1");
  p.stride[1] = 0;
  EXPECT_EQ(plan(p, *device()).status().code(), Code::kInvalid);
}

TEST(Plan, AnEmptyBatchTouchesNothingInFpropAndDgradAndGivesZerosInWgrad) {  // F22
  for (const char* text : {"conv2d fprop f32 n0 c4 k4 g4 h6 w6 r3 s3 pad1",
                           "conv2d dgrad f32 n0 c4 k4 g2 h6 w6 r3 s3 pad1"}) {
    const ConvProblem p = problem(text);
    float w[4 * 2 * 9] = {};
    RunArgs args{.w = packed(w, DType::kF32, w_shape(p).span())};
    (p.pass == Pass::kFprop ? args.x : args.dx) = packed(nullptr, DType::kF32, x_shape(p).span());
    (p.pass == Pass::kFprop ? args.y : args.dy) = packed(nullptr, DType::kF32, y_shape(p).span());
    EXPECT_TRUE(plan(p, *device())->run(args).ok()) << text;
  }
  const ConvProblem p = problem("conv2d wgrad f32 n0 c4 k4 g4 h6 w6 r3 s3 pad1");
  const Storage dw(DType::kF32, w_shape(p), packed_form(w_shape(p), Layout::kNchw));
  const Storage db(DType::kF32, bias_shape(p), packed_form(bias_shape(p), Layout::kNchw));
  ASSERT_TRUE(plan(p, *device())
                  ->run({.x = packed(nullptr, DType::kF32, x_shape(p).span()),
                         .dy = packed(nullptr, DType::kF32, y_shape(p).span()),
                         .dw = dw.view(),
                         .db = db.view()})
                  .ok());
  EXPECT_EQ(dw.values(), std::vector<double>(36, 0.0));
  EXPECT_EQ(db.values(), std::vector<double>(4, 0.0));
}

// F58: a workspace is the packed weights at most, rounded to whole tiles, and small ones need none.
TEST(Plan, WorkspaceIsBoundedByTheWeights) {
  for (const char* text : {"conv2d fprop f32 n1 c512 k512 g8 h7 w7 r3 s3 pad1 nhwc",
                           "conv2d fprop bf16 n1 c256 k256 g256 h7 w7 r3 s3 pad1 nhwc",
                           "conv3d fprop f32 n1 c16 k16 g2 d16 h64 w64 t3 r3 s3 pad1",
                           "conv2d fprop f16 n1 c256 k256 h7 w7 r1 s1"}) {
    const ConvProblem p = problem(text);
    const int64_t weights = p.K * gemm_k(p);
    EXPECT_LE(plan(p, *device())->workspace_bytes(), static_cast<size_t>(16 * weights + (4 << 20)))
        << text;
  }
}

class PackedWeightsTest : public testing::TestWithParam<const char*> {};

TEST_P(PackedWeightsTest, GiveTheSameResultAndServeTheirKernelOnly) {
  const ConvProblem p = problem(GetParam());
  std::vector<double> x(static_cast<size_t>(p.N * p.C * p.in[1] * p.in[2]), 1.0);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = static_cast<double>(i % 7) - 3;
  Storage xs(p.dtype, x_shape(p), packed_form(x_shape(p), p.layout));
  Storage ws(p.dtype, w_shape(p), packed_form(w_shape(p), p.layout));
  xs.set(x);
  ws.set(std::vector<double>(static_cast<size_t>(p.K * gemm_k(p)), 2.0));
  for (const KernelFacts& row : kernels()) {
    const Result<Plan> chosen = plan(p, *device(), {.kernel = row.name});
    if (!chosen) continue;
    const Storage plain(p.dtype, y_shape(p), packed_form(y_shape(p), p.layout));
    const Storage from_packed(p.dtype, y_shape(p), packed_form(y_shape(p), p.layout));
    ASSERT_TRUE(chosen->run({.x = xs.view(), .w = ws.view(), .y = plain.view()}).ok());
    Result<PackedWeights> packed = chosen->pack_weights(ws.view());
    if (!packed) {
      EXPECT_EQ(packed.status().code(), Code::kUnsupported) << row.name;
      EXPECT_NE(packed.status().message().find(row.name), std::string::npos);
      continue;
    }
    ASSERT_TRUE(chosen->run({.x = xs.view(), .y = from_packed.view(), .packed = &*packed}).ok());
    EXPECT_EQ(from_packed.values(), plain.values()) << row.name;
    packed->kernel = "another_kernel";
    const Status misuse =
        chosen->run({.x = xs.view(), .y = from_packed.view(), .packed = &*packed});
    EXPECT_EQ(misuse.code(), Code::kInvalid);
    EXPECT_NE(misuse.message().find("another_kernel"), std::string::npos);
    packed->kernel = row.name;
    packed->problem.K *= 2;  // weights of another shape would be read past their end
    EXPECT_EQ(chosen->run({.x = xs.view(), .y = from_packed.view(), .packed = &*packed}).code(),
              Code::kInvalid);
  }
  TensorView narrow = ws.view();
  narrow.sizes[0] -= 1;
  EXPECT_EQ(plan(p, *device())->pack_weights(narrow).status().code(), Code::kInvalid);
}

INSTANTIATE_TEST_SUITE_P(Problems, PackedWeightsTest,
                         testing::Values("conv2d fprop f32 n1 c24 k24 g24 h9 w9 r3 s3 pad1 nhwc",
                                         "conv2d fprop f32 n1 c64 k64 g2 h9 w9 r3 s3 pad1 nhwc",
                                         "conv2d fprop bf16 n1 c64 k64 h9 w9 r1 s1 nhwc",
                                         "conv2d fprop f32 n1 c24 k24 g6 h9 w9 r3 s3 pad1"));

TEST(Plan, ReferenceRowsCarryTheirFacts) {
  ASSERT_EQ(kernels().size(), roster().size());
  int references = 0;
  for (const KernelFacts& row : kernels()) {
    EXPECT_FALSE(row.passes.empty() || row.dtypes.empty() || row.layouts.empty()) << row.name;
    if (!row.reference) continue;
    ++references;
    EXPECT_EQ(row.dtypes.size(), 4U) << row.name;
    EXPECT_EQ(row.layouts.size(), 2U) << row.name;
  }
  EXPECT_EQ(references, 6);
}

}  // namespace
}  // namespace convoy
