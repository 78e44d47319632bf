// A grouped convolution from C: a problem text, a plan, and why it chose its kernel.
#include <convoy/c_api.h>
#include <stdio.h>

// A gapless channels-first tensor of four axes.
static convoy_tensor tensor(float* data, int64_t a, int64_t b, int64_t c, int64_t d) {
  const convoy_tensor t = {sizeof(convoy_tensor),   data, CONVOY_F32, 4, {a, b, c, d},
                           {b * c * d, c * d, d, 1}};
  return t;
}

static void explain(const convoy_plan* plan) {
  size_t count = 0;
  convoy_plan_candidate_count(plan, &count);
  for (size_t i = 0; i < count; ++i) {
    convoy_candidate c = {sizeof(convoy_candidate), NULL, NULL, NULL, 0, 0};
    if (convoy_plan_candidate(plan, i, &c) != CONVOY_OK) return;
    printf("%-24s %-7s %s\n", c.kernel, c.verdict == CONVOY_CHOSEN ? "chosen" : "", c.reason);
  }
}

// 8 channels in 2 groups, 5x5 pixels: each inner output sums 4 * 3 * 3 products.
static int convolve(const convoy_plan* plan) {
  static float x_data[8 * 5 * 5], w_data[8 * 4 * 3 * 3], y_data[8 * 5 * 5];
  for (int i = 0; i < 8 * 5 * 5; ++i) {
    x_data[i] = 1;
  }
  for (int i = 0; i < 8 * 4 * 3 * 3; ++i) {
    w_data[i] = 2;
  }
  const convoy_tensor x = tensor(x_data, 1, 8, 5, 5), w = tensor(w_data, 8, 4, 3, 3);
  const convoy_tensor y = tensor(y_data, 1, 8, 5, 5);
  convoy_run_args args = {0};
  args.struct_size = sizeof args;
  args.x = &x;
  args.w = &w;
  args.y = &y;
  if (convoy_plan_run(plan, &args) != CONVOY_OK) return 1;
  printf("corner %g, centre %g\n", (double)y_data[0], (double)y_data[2 * 5 + 2]);
  return y_data[0] == 32 && y_data[2 * 5 + 2] == 72 ? 0 : 1;
}

int main(void) {
  convoy_device* device = NULL;
  convoy_plan* plan = NULL;
  int result = 1;
  if (convoy_device_open("cpu", &device) == CONVOY_OK &&
      convoy_plan_create("conv2d fprop f32 n1 c8 k8 g2 h5 w5 r3 s3 pad1", device, NULL, &plan) ==
          CONVOY_OK) {
    explain(plan);
    result = convolve(plan);
  }
  if (result != 0) fprintf(stderr, "%s\n", convoy_last_error());
  convoy_plan_free(plan);
  convoy_device_free(device);
  return result;
}
