// What the block-diagonal kernel declines and how it tiles what it takes.
#include <gtest/gtest.h>

#include "kernel/gpu/block_diagonal/block_diagonal.h"
#include "kernel/gpu/block_diagonal/block_diagonal_index.h"

namespace convoy {
extern const Kernel cuda_block_diagonal_fprop_sm80;

namespace test {
namespace {

// Facts of an H200.
DeviceInfo device() {
  DeviceInfo info;
  info.arch = "sm_90";
  info.multiprocessors = 132;
  info.clock_mhz = 1755;
  info.shared_bytes_per_block = 227 << 10;
  info.shared_bytes_per_multiprocessor = 228 << 10;
  info.ceilings.copy_streaming_gbs = 4100;
  info.ceilings.copy = {{200'000, 120}, {2'000'000, 617}, {32'000'000, 3220}, {256'000'000, 4010}};
  info.ceilings.fork_join_us = 0.8;
  return info;
}

ConvProblem problem(const std::string& text) {
  const Result<ConvProblem> p = parse_problem(text);
  EXPECT_TRUE(p.ok()) << text;
  return *p;
}

const Kernel& kernel() {
  return cuda_block_diagonal_fprop_sm80;
}

std::string decline(const std::string& text) {
  const auto no = kernel().declines(problem(text), device());
  return no ? no->reason : "";
}

TEST(BlockDiagonalChoice, DeclinesWhatItCannotHold) {
  EXPECT_EQ(decline("conv2d fprop f16 n2 c64 k64 g16 h9 w9 r3 s3 nhwc"), "");
  EXPECT_NE(decline("conv2d fprop f16 n2 c60 k60 g15 h9 w9 r3 s3 nhwc"), "");
  EXPECT_NE(decline("conv2d fprop f16 n2 c96 k96 g2 h9 w9 r3 s3 nhwc"), "");
  EXPECT_NE(decline("conv2d fprop f16 n2 c64 k64 g16 h9 w9 r3 s3 stride1x3 nhwc"), "");
  EXPECT_NE(decline("conv2d fprop f16 n2 c64 k64 g2 h9 w9 r7 s7 pad3 nhwc"), "");
  // 17 and 18 channels for each output or two: more to copy than the threads of a block can.
  EXPECT_NE(decline("conv1d fprop f16 n2 c272 k32 g16 w131 s3 stride2 nhwc"), "");
  EXPECT_NE(decline("conv2d fprop f16 n1 c288 k16 g16 h9 w9 r3 s1 pad1x0 nhwc"), "");
  DeviceInfo older = device();
  older.arch = "sm_75";
  EXPECT_TRUE(
      kernel().declines(problem("conv2d fprop f16 n2 c64 k64 g16 h9 w9 r3 s3 nhwc"), older));
}

TEST(BlockDiagonalChoice, TilesWithoutMuchWaste) {
  for (const char* text : {"conv2d fprop f16 n128 c128 k128 g32 h56 w56 r3 s3 pad1 nhwc",
                           "conv2d fprop f16 n32 c96 k96 g96 h56 w56 r3 s3 pad1 nhwc",
                           "conv2d fprop bf16 n32 c1024 k1024 g128 h7 w7 r3 s3 pad1 nhwc bias relu",
                           "conv2d fprop f16 n32 c512 k512 g32 h28 w28 r3 s3 pad1 nhwc",
                           "conv2d fprop f16 n1 c256 k256 g32 h14 w14 r3 s3 pad1 nhwc",
                           "conv3d fprop f16 n8 c64 k64 g64 d16 h28 w28 t3 r3 s3 pad1 nhwc"}) {
    const ConvProblem p = problem(text);
    ASSERT_FALSE(kernel().declines(p, device())) << text;
    const Config config = kernel().configure(p, device());
    const double span = p.cpg() < 8 ? 8.0 / static_cast<double>(p.cpg()) : 1;
    EXPECT_LE(static_cast<double>(config.executed_flops),
              1.35 * span * static_cast<double>(flops(p)))
        << text << ": " << config.text;
    EXPECT_GT(kernel().estimate_us(p, config, device()), 0);
    const std::string source = kernel().source(p, config).text;
    EXPECT_NE(source.find("BlockDiagonalConfig{"), std::string::npos) << source;
  }
}

// A row is not split where few blocks would run, nor left whole where they would not fill it.
TEST(BlockDiagonalChoice, SplitsRowsToFillTheDevice) {
  const auto segment = [](const char* text) {
    return kernel().configure(problem(text), device()).values[5];
  };
  EXPECT_LE(segment("conv2d fprop f16 n1 c128 k128 g32 h56 w56 r3 s3 pad1 nhwc"), 14);
  EXPECT_GE(segment("conv2d fprop f16 n128 c128 k128 g32 h56 w56 r3 s3 pad1 nhwc"), 14);
}

}  // namespace
}  // namespace test
}  // namespace convoy
