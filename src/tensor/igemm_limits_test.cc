// When 32-bit indices serve, and how wide loads and stores may be.
#include "tensor/igemm_limits.h"

#include <gtest/gtest.h>

namespace convoy {
namespace {

// A packed channels-last 3x3 convolution at stride 1, pad 1.
IgemmSizes nhwc(i64 N, i64 C, i64 K, i64 G, i64 side) {
  const i64 cpg = C / G;
  return {.N = N,
          .C = C,
          .K = K,
          .G = G,
          .in = {1, side, side},
          .filter = {1, 3, 3},
          .out = {1, side, side},
          .stride = {1, 1, 1},
          .pad_lo = {0, 1, 1},
          .dilation = {1, 1, 1},
          .x_stride = {side * side * C, 1, side * side * C, side * C, C},
          .w_stride = {9 * cpg, 1, 9 * cpg, 3 * cpg, cpg},
          .y_stride = {side * side * K, 1, side * side * K, side * K, K}};
}

constexpr Alignments kAligned = {16, 16, 16};

TEST(FitsI32, SmallProblemsDo) {
  EXPECT_TRUE(fits_i32(nhwc(32, 256, 256, 32, 56), 256));
}

TEST(FitsI32, TheLimitIsExclusiveOnOffsets) {
  IgemmSizes s = nhwc(1, 8, 1, 1, 4);  // x offsets end at 127, those of w and y sooner
  EXPECT_TRUE(fits_i32(s, 0, 129));
  EXPECT_TRUE(fits_i32(s, 0, 128));
  EXPECT_FALSE(fits_i32(s, 0, 127));
  s.N = 2;
  s.x_stride[0] = (i64{1} << 31) - 128;
  EXPECT_TRUE(fits_i32(s, 0));
  ++s.x_stride[0];
  EXPECT_FALSE(fits_i32(s, 0));
  s.x_stride[0] = -s.x_stride[0];
  EXPECT_FALSE(fits_i32(s, 0));
}

TEST(FitsI32, EveryOperandCounts) {
  const IgemmSizes small = nhwc(2, 8, 8, 2, 4);
  IgemmSizes s = small;
  s.w_stride[0] = i64{1} << 31;
  EXPECT_FALSE(fits_i32(s, 0));
  s = small;
  s.y_stride[1] = i64{1} << 31;
  EXPECT_FALSE(fits_i32(s, 0));
}

TEST(FitsI32, TileTailsCount) {
  const IgemmSizes s = nhwc(1, 1, 1, 1, 1);
  EXPECT_TRUE(fits_i32(s, 100, 200));
  EXPECT_FALSE(fits_i32(s, 200, 200));
}

TEST(FitsI32, PaddedPositionsCount) {
  IgemmSizes s = nhwc(1, 1, 1, 1, 1);
  s.pad_lo[2] = i64{1} << 31;
  EXPECT_FALSE(fits_i32(s, 0));
  s.pad_lo[2] = 1;
  s.dilation[2] = i64{1} << 30;
  EXPECT_FALSE(fits_i32(s, 0));
  s.dilation[2] = 1;
  EXPECT_TRUE(fits_i32(s, 0));
  s.in[2] = i64{1} << 31;  // of one element, repeated
  s.x_stride[4] = 0;
  EXPECT_FALSE(fits_i32(s, 0));
}

// Strides of axes with one entry say nothing, and no arithmetic may overflow on the way.
TEST(FitsI32, AnyStrideOnAxesOfOne) {
  IgemmSizes s = nhwc(1, 8, 8, 1, 4);
  s.x_stride[0] = s.y_stride[2] = INT64_MIN;
  EXPECT_TRUE(fits_i32(s, 0));
  s.x_stride[3] = INT64_MIN;
  EXPECT_FALSE(fits_i32(s, 0));
}

VectorWidths widths(i64 C, i64 K, i64 G, int dtype_bytes, i64 merged = 1) {
  return vector_widths(nhwc(2, C, K, G, 7), dtype_bytes, kAligned, merged);
}

void expect_widths(const VectorWidths& got, int a, int b, int c) {
  EXPECT_EQ(got.a, a);
  EXPECT_EQ(got.b, b);
  EXPECT_EQ(got.c, c);
}

TEST(VectorWidths, FromChannelsPerGroup) {
  expect_widths(widths(64, 64, 16, 2), 4, 4, 4);  // C = 64 would allow 8 and mix two taps
  expect_widths(widths(24, 24, 4, 2), 2, 2, 2);   // K = 24 would allow 8 and store across groups
  expect_widths(widths(256, 256, 32, 2), 8, 8, 8);
  expect_widths(widths(256, 256, 32, 4), 4, 4, 4);
  expect_widths(widths(24, 40, 8, 2), 1, 1, 1);
  expect_widths(widths(12, 32, 4, 2), 1, 1, 8);
  expect_widths(widths(64, 48, 4, 2), 8, 8, 4);
}

TEST(VectorWidths, MergedGroupsWidenAandD) {
  expect_widths(widths(32, 32, 32, 2), 1, 1, 1);
  expect_widths(widths(32, 32, 32, 2, 8), 8, 1, 8);
  expect_widths(widths(48, 48, 16, 2, 4), 4, 1, 4);
}

TEST(VectorWidths, PointersClamp) {
  const IgemmSizes s = nhwc(2, 64, 64, 4, 7);
  expect_widths(vector_widths(s, 2, {8, 16, 16}), 4, 8, 8);
  expect_widths(vector_widths(s, 2, {16, 4, 2}), 8, 2, 1);
  expect_widths(vector_widths(s, 4, {4, 8, 64}), 1, 2, 4);
}

TEST(VectorWidths, StridesClamp) {
  IgemmSizes s = nhwc(2, 64, 64, 4, 7);
  s.x_stride[4] = 68;  // a gap after each pixel
  s.w_stride[0] = 9 * 16 + 2;
  s.y_stride[3] = 7 * 64 + 1;
  expect_widths(vector_widths(s, 2, kAligned), 4, 2, 1);
  s = nhwc(2, 64, 64, 4, 7);
  s.x_stride[1] = 2;  // channels apart
  s.w_stride[1] = 0;
  s.y_stride[2] = 3;  // an axis of one entry: any stride
  expect_widths(vector_widths(s, 2, kAligned), 1, 1, 8);
}

}  // namespace
}  // namespace convoy
