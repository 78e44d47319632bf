// The field cases that must be refused: one line that names the parameter and the values.
#include <gtest/gtest.h>

#include "conformance/field_case.h"

namespace convoy::test {
namespace {

using nlohmann::json;

template <int Rank>
Status ask(const ConvProblem& p, const TensorView& x, const TensorView& w, const TensorView& bias) {
  ConvOptions<Rank> options{.groups = p.G};
  for (int i = 0; i < Rank; ++i) {
    const int d = 3 - Rank + i;
    options.stride[i] = p.stride[d];
    options.padding[i] = p.pad_lo[d];
    options.padding_end[i] = p.pad_hi[d];
    options.dilation[i] = p.dilation[d];
  }
  return problem_of<Rank>(options, x, w, bias).status();
}

std::string id_of(const json& e) {
  return e["id"];
}

Status run_plan(const json& e, const TensorView& x, const TensorView& w) {
  const Result<Plan> chosen = plan(*parse_problem(e["problem"].get<std::string>()), *device());
  return chosen->run({.x = x, .w = w});
}

// What the call with these shapes answers; a text that has no options to pass answers itself.
Status refuse(const json& e) {
  const Result<PartialProblem> partial = parse_partial(e["problem"].get<std::string>());
  if (!partial) return partial.status();
  ConvProblem p = partial->fields;
  p.G = partial->G.value_or(1);
  static float memory[1 << 12];
  const auto view = [&](const char* shape, const char* dtype) -> TensorView {
    if (e[shape].is_null()) return {};
    const std::vector<int64_t> sizes = e[shape];
    const auto other = dtype_from_name(e.value(dtype, std::string(name(p.dtype))));
    return packed(memory, *other, sizes);
  };
  // The rank of a weight tells no filter extent, so that call is one of a plan.
  if (id_of(e) == "F33c") return run_plan(e, view("x_shape", ""), view("w_shape", ""));
  const TensorView x = view("x_shape", "x_dtype"), w = view("w_shape", "w_dtype");
  const TensorView bias = view("bias_shape", "bias_dtype");
  if (p.rank == 1) return ask<1>(p, x, w, bias);
  return p.rank == 2 ? ask<2>(p, x, w, bias) : ask<3>(p, x, w, bias);
}

void expect_refusal(const json& e, const Status& status) {
  const std::string id = id_of(e);
  EXPECT_EQ(status.code(), Code::kInvalid) << id;
  EXPECT_EQ(status.message().find('\n'), std::string::npos) << id;
  EXPECT_NE(status.message().find("; "), std::string::npos)
      << id << " has no fix: " << status.message();
  for (const json& what : e["must_mention"]) {
    EXPECT_TRUE(mentions(status.message(), what))
        << id << " lacks " << what << ": " << status.message();
  }
}

bool next_valid_call_works() {
  std::vector<float> x(100, 1.0F), w(36, 1.0F);
  const Conv2d conv({.groups = 4});
  const std::vector<int64_t> x_sizes = {1, 4, 5, 5}, w_sizes = {4, 1, 3, 3};
  const Result<Tensor> y =
      conv(packed(x.data(), DType::kF32, x_sizes), packed(w.data(), DType::kF32, w_sizes));
  return y.ok() && static_cast<const float*>(y->view.data)[0] == 9.0F;
}

TEST(FieldErrors, CallsAreRefusedByName) {
  ASSERT_EQ(field_case_file()["errors"].size(), 25U);
  for (const json& e : field_case_file()["errors"]) {
    expect_refusal(e, refuse(e));
    EXPECT_TRUE(next_valid_call_works()) << e["id"];
  }
}

// Where the fault is in the problem itself, the text and every pass refuse it as well.
TEST(FieldErrors, TextsAreRefusedByName) {
  int refused = 0;
  for (const json& e : field_case_file()["errors"]) {
    const std::string id = id_of(e);
    for (const char* pass : {"fprop", "dgrad", "wgrad"}) {
      std::string text = e["problem"];
      text.replace(7, 5, pass);
      const Result<ConvProblem> p = parse_problem(text);
      const bool legal =
          id == "F32c" || id.starts_with("F33") || id.starts_with("F34") || id == "F43b";
      if (legal) continue;
      ASSERT_FALSE(p.ok()) << text;
      expect_refusal(e, p.status());
      ++refused;
    }
  }
  EXPECT_EQ(refused, 3 * 14);
}

TEST(FieldErrors, MentionRule) {
  EXPECT_TRUE(mentions("Groups g=0", "groups"));
  EXPECT_FALSE(mentions("subgroups", "groups"));
  EXPECT_FALSE(mentions("c=14", "4"));
  EXPECT_TRUE(mentions("g=-1 must", "-1"));
  EXPECT_TRUE(mentions("4x1x3x3, not", "4x1x3x3"));
  EXPECT_FALSE(mentions("4x1x3x3x3", "4x1x3x3"));
}

}  // namespace
}  // namespace convoy::test
