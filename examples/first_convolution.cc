// A grouped convolution on arrays of one's own: the call, then the plan behind it.
#include <convoy/convoy.h>

#include <cstdio>
#include <vector>

int main() {
  // 32 groups of 8 channels, 14x14 pixels, channels last: x is N C H W, w is K C/g R S.
  std::vector<float> input(256 * 14 * 14, 0.5F), weight(256 * 8 * 3 * 3, 0.01F);
  const int64_t x_sizes[] = {1, 256, 14, 14}, w_sizes[] = {256, 8, 3, 3};
  const auto x = convoy::packed(input.data(), convoy::DType::kF32, x_sizes, convoy::Layout::kNhwc);
  const auto w = convoy::packed(weight.data(), convoy::DType::kF32, w_sizes);

  const convoy::Conv2d conv({.padding = {1, 1}, .groups = 32});
  const convoy::Result<convoy::Tensor> y = conv(x, w);
  if (!y) {
    std::fprintf(stderr, "%s\n", y.status().message().c_str());
    return 1;
  }
  std::printf("y %s, y[0] = %g\n", convoy::shape_text({y->view.sizes.data(), 4}).c_str(),
              static_cast<const float*>(y->view.data)[0]);

  // The same as a plan, which says what it chose and why.
  const auto problem =
      convoy::parse_problem("conv2d fprop f32 n1 c256 k256 g32 h14 w14 r3 s3 pad1 nhwc");
  const auto device = convoy::device("cpu");
  if (!problem || !device) return 1;
  const auto plan = convoy::plan(*problem, *device);
  if (!plan) return 1;
  for (const convoy::Candidate& c : plan->explain().candidates) {
    std::printf("%-24s %-9s %s\n", c.kernel.c_str(), convoy::name(c.verdict), c.reason.c_str());
  }
  return 0;
}
