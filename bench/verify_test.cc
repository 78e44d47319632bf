// A wrong or unwritten result never passes, whole or by samples.
#include "bench/verify.h"

#include <gtest/gtest.h>

#include "bench/operand_sets.h"

namespace convoy::bench {
namespace {

struct Ran {
  Device device = *convoy::device();
  Slab slab{device};
  ConvProblem problem;
  RunArgs args;

  explicit Ran(const char* text) : problem(*parse_problem(text)) {
    args = make_sets(problem, 0, 1, slab)->first;
  }
  void run() { ASSERT_TRUE(plan(problem, device)->run(args).ok()); }
};

constexpr const char* kSmall = "conv2d fprop f32 n3 c4 k4 g2 h5 w6 r3 s3 pad1 bias relu";

TEST(Verify, ARightResultIsOk) {
  Ran ran(kSmall);
  ran.run();
  EXPECT_EQ(*verify(ran.problem, ran.args, ran.device), "ok");
}

TEST(Verify, AnUnwrittenOutputFails) {
  Ran ran(kSmall);
  EXPECT_EQ(verify(ran.problem, ran.args, ran.device)->substr(0, 6), "failed");
}

TEST(Verify, OneWrongElementFails) {
  for (const char* text : {kSmall, "conv1d dgrad f32 n2 c6 k6 g3 w9 s3 pad1 nhwc",
                           "conv1d wgrad f32 n2 c6 k6 g3 w9 s3 pad1 bias"}) {
    Ran ran(text);
    ran.run();
    ASSERT_EQ(*verify(ran.problem, ran.args, ran.device), "ok") << text;
    const TensorView& out = ran.args.*operands(ran.problem).back().view;
    static_cast<float*>(out.data)[out.elements() - 1] += 0.5F;
    EXPECT_EQ(verify(ran.problem, ran.args, ran.device)->substr(0, 6), "failed") << text;
  }
}

TEST(SampleOf, SeesThatSampleOnly) {
  Ran ran(kSmall);
  ran.run();
  auto* y = static_cast<float*>(ran.args.y.data);
  y[ran.args.y.strides[0]] += 1;  // the first element of sample 1
  for (const int64_t n : {0, 1, 2}) {
    const Slice slice = sample_of(ran.problem, ran.args, n);
    EXPECT_EQ(*verify(slice.problem, slice.args, ran.device) == "ok", n != 1) << n;
  }
}

}  // namespace
}  // namespace convoy::bench
