// The same from C11: plans a text, convolves ones, prints the shape and a corner of the result.
#include <convoy/c_api.h>
#include <inttypes.h>
#include <stdio.h>

_Static_assert(sizeof(convoy_tensor) > sizeof(void*), "the installed header is C");

static int fail(void) {
  fprintf(stderr, "consumer: %s\n", convoy_last_error());
  return 1;
}

// A packed channels-first tensor of ones with the shape of an operand of `problem`.
static int ones(const char* problem, convoy_operand operand, float* data, convoy_tensor* t) {
  *t = (convoy_tensor){.struct_size = sizeof *t, .data = data, .dtype = CONVOY_F32};
  if (convoy_problem_shape(problem, operand, t->sizes, &t->rank) != CONVOY_OK) return 1;
  int64_t count = 1;
  for (int32_t i = t->rank; i-- > 0;) {
    t->strides[i] = count;
    count *= t->sizes[i];
  }
  for (int64_t i = 0; i < count; ++i) {
    data[i] = 1;
  }
  return 0;
}

static int convolve(const convoy_plan* plan) {
  static float x_data[2 * 8 * 10 * 9], w_data[12 * 2 * 3 * 3], y_data[2 * 12 * 5 * 9];
  const char* problem = convoy_plan_problem(plan);
  convoy_tensor x, w, y;
  if (ones(problem, CONVOY_X, x_data, &x) != 0 || ones(problem, CONVOY_W, w_data, &w) != 0 ||
      ones(problem, CONVOY_Y, y_data, &y) != 0) {
    return fail();
  }
  const convoy_run_args args = {.struct_size = sizeof args, .x = &x, .w = &w, .y = &y};
  if (convoy_plan_run(plan, &args) != CONVOY_OK) return fail();
  printf("%" PRId64 "x%" PRId64 "x%" PRId64 "x%" PRId64 " %g\n", y.sizes[0], y.sizes[1], y.sizes[2],
         y.sizes[3], (double)y_data[0]);
  return 0;
}

int main(void) {
  convoy_device* device = NULL;
  convoy_plan* plan = NULL;
  int result = 0;
  if (convoy_device_open("cpu", &device) != CONVOY_OK ||
      convoy_plan_create("conv2d fprop f32 n2 c8 k12 g4 h10 w9 r3 s3 stride2x1 pad1", device, NULL,
                         &plan) != CONVOY_OK) {
    result = fail();
  } else {
    result = convolve(plan);
  }
  convoy_plan_free(plan);
  convoy_device_free(device);
  return result;
}
