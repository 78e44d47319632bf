// The C interface: values against the reference, and a message for every wrong input.
#include <convoy/c_api.h>
#include <convoy/convoy.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>

namespace convoy {
namespace {

using ::testing::HasSubstr;

constexpr const char* kText = "conv2d fprop f32 n1 c32 k32 h5 w6 r3 s3 pad1";

convoy_tensor tensor(std::vector<float>& data, std::span<const int64_t> sizes,
                     Layout layout = Layout::kNchw) {
  const TensorView view = packed(data.data(), DType::kF32, sizes, layout);
  convoy_tensor out{.struct_size = sizeof out, .data = view.data, .dtype = CONVOY_F32};
  out.rank = view.rank;
  std::copy(view.sizes.begin(), view.sizes.end(), out.sizes);
  std::copy(view.strides.begin(), view.strides.end(), out.strides);
  return out;
}

std::string reference_kernel() {
  for (const KernelFacts& k : kernels()) {
    if (k.reference && k.passes.front() == Pass::kFprop) return k.name;
  }
  return "none";
}

class CApi : public ::testing::Test {
 protected:
  CApi() {
    for (size_t i = 0; i < x_data.size(); ++i)
      x_data[i] = static_cast<float>(i % 7) - 3;
    for (size_t i = 0; i < w_data.size(); ++i)
      w_data[i] = static_cast<float>(i % 5) - 2;
    EXPECT_EQ(convoy_device_open("cpu", &opened), CONVOY_OK);
  }
  ~CApi() override {
    convoy_plan_free(made);
    convoy_device_free(opened);
  }
  CApi(const CApi&) = delete;
  CApi& operator=(const CApi&) = delete;

  convoy_status make(const char* text) {
    const convoy_plan_options options{.struct_size = sizeof options, .deterministic = 1};
    return convoy_plan_create(text, opened, &options, &made);
  }
  // y of the reference kernel, all operands but w stored in the layout of `text`.
  std::vector<float> reference(const char* text) {
    const ConvProblem p = *parse_problem(text);
    std::vector<float> out(y_data.size());
    const Plan judge = *plan(p, *device("cpu"), {.kernel = reference_kernel()});
    EXPECT_TRUE(judge
                    .run({.x = packed(x_data.data(), DType::kF32, x_shape(p).span(), p.layout),
                          .w = packed(w_data.data(), DType::kF32, w_shape(p).span()),
                          .y = packed(out.data(), DType::kF32, y_shape(p).span(), p.layout)})
                    .ok());
    return out;
  }

  std::vector<float> x_data = std::vector<float>(960);
  std::vector<float> w_data = std::vector<float>(9216);
  std::vector<float> y_data = std::vector<float>(960, -1);
  convoy_tensor x = tensor(x_data, std::array<int64_t, 4>{1, 32, 5, 6});
  convoy_tensor w = tensor(w_data, std::array<int64_t, 4>{32, 32, 3, 3});
  convoy_tensor y = tensor(y_data, std::array<int64_t, 4>{1, 32, 5, 6});
  convoy_run_args args{.struct_size = sizeof args, .x = &x, .w = &w, .y = &y};
  convoy_device* opened = nullptr;
  convoy_plan* made = nullptr;
};

TEST_F(CApi, RunsAsTheReferenceDoes) {
  ASSERT_EQ(make(kText), CONVOY_OK) << convoy_last_error();
  ASSERT_EQ(convoy_plan_run(made, &args), CONVOY_OK) << convoy_last_error();
  EXPECT_EQ(y_data, reference(kText));
}

TEST_F(CApi, RunsPackedWeights) {
  constexpr const char* kNhwc = "conv2d fprop f32 n1 c32 k32 h5 w6 r3 s3 pad1 nhwc";
  ASSERT_EQ(make(kNhwc), CONVOY_OK) << convoy_last_error();
  convoy_packed* packed = nullptr;
  ASSERT_EQ(convoy_plan_pack_weights(made, &w, &packed), CONVOY_OK) << convoy_last_error();
  x = tensor(x_data, std::array<int64_t, 4>{1, 32, 5, 6}, Layout::kNhwc);
  y = tensor(y_data, std::array<int64_t, 4>{1, 32, 5, 6}, Layout::kNhwc);
  args.w = nullptr;
  args.packed = packed;
  EXPECT_EQ(convoy_plan_run(made, &args), CONVOY_OK) << convoy_last_error();
  EXPECT_EQ(y_data, reference(kNhwc));

  convoy_plan* other = nullptr;
  ASSERT_EQ(convoy_plan_create("conv2d fprop f32 n1 c64 k64 h5 w6 r3 s3 pad1 nhwc", opened, nullptr,
                               &other),
            CONVOY_OK);
  EXPECT_EQ(convoy_plan_run(other, &args), CONVOY_INVALID);
  EXPECT_THAT(convoy_last_error(), HasSubstr("packed weights belong to conv2d"));
  convoy_plan_free(other);
  convoy_packed_free(packed);
}

TEST_F(CApi, TellsWhatAPlanIs) {
  ASSERT_EQ(make(kText), CONVOY_OK);
  EXPECT_STREQ(convoy_plan_problem(made), to_text(*parse_problem(kText)).c_str());
  const Plan same = *plan(*parse_problem(kText), *device("cpu"), {.deterministic = true});
  EXPECT_EQ(convoy_plan_kernel(made), same.kernel());
  EXPECT_EQ(convoy_plan_config(made), same.config());
  size_t bytes = 1, count = 0, chosen = 0;
  EXPECT_EQ(convoy_plan_workspace_bytes(made, &bytes), CONVOY_OK);
  EXPECT_EQ(bytes, same.workspace_bytes());
  ASSERT_EQ(convoy_plan_candidate_count(made, &count), CONVOY_OK);
  EXPECT_EQ(count, same.explain().candidates.size());
  convoy_candidate c{.struct_size = sizeof c};
  for (size_t i = 0; i < count; ++i) {
    ASSERT_EQ(convoy_plan_candidate(made, i, &c), CONVOY_OK);
    EXPECT_EQ(c.kernel, same.explain().candidates[i].kernel);
    if (c.verdict == CONVOY_CHOSEN && c.kernel == same.kernel()) ++chosen;
  }
  EXPECT_EQ(chosen, 1);
  EXPECT_EQ(convoy_plan_candidate(made, count, &c), CONVOY_INVALID);
  EXPECT_THAT(convoy_last_error(), HasSubstr("must be below the count"));
}

TEST_F(CApi, AnswersAboutAProblem) {
  int64_t value = 0, sizes[CONVOY_MAX_RANK] = {};
  int32_t rank = 0;
  EXPECT_EQ(convoy_problem_check(kText), CONVOY_OK);
  EXPECT_EQ(convoy_problem_flops(kText, &value), CONVOY_OK);
  EXPECT_EQ(value, 2 * 32 * 30 * 32 * 9);
  EXPECT_EQ(convoy_problem_bytes(kText, &value), CONVOY_OK);
  EXPECT_EQ(value, bytes(*parse_problem(kText)));
  ASSERT_EQ(convoy_problem_shape(kText, CONVOY_Y, sizes, &rank), CONVOY_OK);
  EXPECT_EQ(rank, 4);
  EXPECT_THAT(sizes, ::testing::ElementsAre(1, 32, 5, 6, 0));
  EXPECT_EQ(convoy_problem_check("conv2d fprop f32 n1 c64 k64 g3 h5 w5 r3 s3"), CONVOY_INVALID);
  EXPECT_THAT(convoy_last_error(), HasSubstr("g=3 must divide"));
}

TEST_F(CApi, NullIsAnErrorNeverACrash) {
  int64_t value = 0;
  size_t count = 0;
  EXPECT_EQ(convoy_problem_check(nullptr), CONVOY_INVALID);
  EXPECT_THAT(convoy_last_error(), HasSubstr("convoy_problem_check: problem is null"));
  EXPECT_EQ(convoy_problem_flops(kText, nullptr), CONVOY_INVALID);
  EXPECT_EQ(convoy_problem_shape(kText, CONVOY_X, &value, nullptr), CONVOY_INVALID);
  EXPECT_EQ(convoy_device_open(nullptr, &opened), CONVOY_INVALID);
  EXPECT_EQ(convoy_device_open("cpu", nullptr), CONVOY_INVALID);
  EXPECT_EQ(convoy_plan_create(kText, nullptr, nullptr, &made), CONVOY_INVALID);
  EXPECT_EQ(convoy_plan_create(kText, opened, nullptr, nullptr), CONVOY_INVALID);
  EXPECT_EQ(convoy_plan_run(nullptr, &args), CONVOY_INVALID);
  EXPECT_EQ(convoy_plan_workspace_bytes(nullptr, &count), CONVOY_INVALID);
  EXPECT_EQ(convoy_plan_candidate(nullptr, 0, nullptr), CONVOY_INVALID);
  EXPECT_EQ(convoy_plan_kernel(nullptr), nullptr);
  ASSERT_EQ(make(kText), CONVOY_OK);
  EXPECT_EQ(convoy_plan_run(made, nullptr), CONVOY_INVALID);
  EXPECT_EQ(convoy_plan_pack_weights(made, nullptr, nullptr), CONVOY_INVALID);
  args.x = nullptr;
  EXPECT_EQ(convoy_plan_run(made, &args), CONVOY_INVALID);
  EXPECT_THAT(convoy_last_error(), HasSubstr("x is missing"));
  convoy_packed_free(nullptr);
}

TEST_F(CApi, RefusesStructsOfAnotherSize) {
  ASSERT_EQ(make(kText), CONVOY_OK);
  args.struct_size = sizeof args - 8;
  EXPECT_EQ(convoy_plan_run(made, &args), CONVOY_INVALID);
  EXPECT_THAT(convoy_last_error(), HasSubstr("convoy_run_args: struct_size="));
  args.struct_size = sizeof args;
  x.struct_size = 0;
  EXPECT_EQ(convoy_plan_run(made, &args), CONVOY_INVALID);
  EXPECT_THAT(convoy_last_error(), HasSubstr("convoy_tensor: struct_size=0"));
  convoy_candidate c{};
  EXPECT_EQ(convoy_plan_candidate(made, 0, &c), CONVOY_INVALID);
  const convoy_plan_options options{};
  convoy_plan* none = nullptr;
  EXPECT_EQ(convoy_plan_create(kText, opened, &options, &none), CONVOY_INVALID);
  EXPECT_EQ(none, nullptr);
}

TEST_F(CApi, RefusesWrongTensorsKernelsAndDevices) {
  ASSERT_EQ(make(kText), CONVOY_OK);
  for (const int32_t rank : {-1, 0, 6}) {
    x.rank = rank;
    EXPECT_EQ(convoy_plan_run(made, &args), CONVOY_INVALID) << rank;
    EXPECT_THAT(convoy_last_error(), HasSubstr("must be from 1 to 5"));
  }
  x.rank = 4;
  x.dtype = 99;
  EXPECT_EQ(convoy_plan_run(made, &args), CONVOY_INVALID);
  EXPECT_THAT(convoy_last_error(), HasSubstr("tensor x: dtype=99"));
  convoy_plan* none = nullptr;
  convoy_plan_options options{.struct_size = sizeof options, .kernel = "cpu_nobody"};
  EXPECT_EQ(convoy_plan_create(kText, opened, &options, &none), CONVOY_INVALID);
  EXPECT_EQ(convoy_plan_create("conv2d fprop s8 n1 c8 k8 h5 w5 r3 s3", opened, nullptr, &none),
            CONVOY_UNSUPPORTED);
  convoy_device* absent = nullptr;
  EXPECT_EQ(convoy_device_open("cuda:999", &absent), CONVOY_UNAVAILABLE);
  EXPECT_EQ(convoy_device_open("abacus", &absent), CONVOY_INVALID);
  EXPECT_EQ(absent, nullptr);
}

TEST_F(CApi, ErrorsBelongToTheirThread) {
  EXPECT_EQ(convoy_problem_check("conv9d"), CONVOY_INVALID);
  const std::string mine = convoy_last_error();
  EXPECT_FALSE(mine.empty());
  std::string other = "unset";
  std::thread([&] { other = convoy_last_error(); }).join();
  EXPECT_EQ(other, "");
  EXPECT_EQ(convoy_last_error(), mine);
}

}  // namespace
}  // namespace convoy
