// Broken and hostile ONNX files: one clear error each, no crash, no hang, no huge allocation.
#include <gtest/gtest.h>

#include <limits>

#include "onnx/onnx_model.h"
#include "onnx/test_model.h"

namespace convoy::cli {
namespace {

void expect_error(const std::string& bytes, const std::string& message) {
  const Result<OnnxModel> model = read_onnx_bytes(bytes, ".", {});
  ASSERT_FALSE(model.ok()) << "expected: " << message;
  EXPECT_EQ(model.status().code(), Code::kInvalid);
  EXPECT_NE(model.status().message().find(message), std::string::npos) << model.status().message();
  EXPECT_EQ(model.status().message().find('\n'), std::string::npos);
}

TestModel conv_model(const std::vector<int64_t>& x, const std::vector<int64_t>& w) {
  TestModel m;
  m.input("x", x).initializer("w", w);
  m.node("Conv", {"x", "w"}, "y");
  return m;
}

onnx::NodeProto& conv(TestModel& m) {
  return *m.model.mutable_graph()->mutable_node(0);
}

onnx::TensorProto& weight(TestModel& m) {
  return *m.model.mutable_graph()->mutable_initializer(0);
}

TEST(HostileOnnx, EveryTruncationEndsInAnAnswer) {
  const std::string bytes = conv_model({1, 2, 8}, {2, 2, 3}).bytes();
  ASSERT_TRUE(read_onnx_bytes(bytes, ".", {}).ok());
  for (size_t n = 0; n < bytes.size(); ++n)
    EXPECT_FALSE(read_onnx_bytes(bytes.substr(0, n), ".", {}).ok()) << n;
  expect_error("", "no graph");
  expect_error("this is not a model", "no ONNX file");
}

TEST(HostileOnnx, MissingFilesAndFoldersAreNamed) {
  for (const char* path : {"/nonexistent.onnx", "/", "/dev/zero"}) {
    const Result<OnnxModel> model = read_onnx(path, {});
    ASSERT_FALSE(model.ok());
    EXPECT_NE(model.status().message().find(path), std::string::npos);
  }
}

TEST(HostileOnnx, InitializerBytesMustMatchItsDims) {
  TestModel fewer = conv_model({1, 2, 8}, {2, 2, 3});
  weight(fewer).mutable_float_data()->RemoveLast();
  expect_error(fewer.bytes(), "dims 2x2x3 need 48 bytes, the file holds 44");
  TestModel raw = conv_model({1, 2, 8}, {2, 2, 3});
  weight(raw).set_raw_data(std::string(49, '\0'));
  expect_error(raw.bytes(), "the file holds 49");
  TestModel none = conv_model({1, 2, 8}, {2, 2, 3});
  weight(none).clear_float_data();
  expect_error(none.bytes(), "the file holds 0");
}

TEST(HostileOnnx, DimsMayNotBeNegativeOrOverflow) {
  TestModel negative = conv_model({1, 2, 8}, {2, 2, 3});
  weight(negative).set_dims(0, -2);
  expect_error(negative.bytes(), "dim -2 must not be negative");
  TestModel huge = conv_model({1, 2, 8}, {2, 2, 3});
  weight(huge).set_dims(0, int64_t{1} << 62);
  expect_error(huge.bytes(), "claim more than");
  TestModel large = conv_model({1, 2, 8}, {2, 2, 3});
  weight(large).set_dims(0, int64_t{1} << 33);
  expect_error(large.bytes(), "claim more than");
  expect_error(conv_model({1, 2, int64_t{1} << 62}, {2, 2, 3}).bytes(), "claims an extent");
}

TEST(HostileOnnx, ConvAttributesAreChecked) {
  struct Row {
    const char* attribute;
    std::vector<int64_t> values;
    const char* message;
  };
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  for (const Row& row :
       {Row{"strides", {0}, "stride_w=0"}, Row{"strides", {-1}, "stride_w=-1"},
        Row{"strides", {1, 1, 1}, "strides has 3 entries, 1 are needed"},
        Row{"dilations", {0}, "dil_w=0"}, Row{"dilations", {kMax}, "effective kernel"},
        Row{"pads", {-1, 0}, "pad_w"}, Row{"pads", {kMax, kMax}, "padded input"},
        Row{"pads", {1}, "pads has 1 entries, 2 are needed"},
        Row{"kernel_shape", {4}, "kernel_shape 4 must be that of the weight, 3"}}) {
    TestModel m = conv_model({1, 2, 8}, {2, 2, 3});
    set_ints(conv(m), row.attribute, row.values);
    expect_error(m.bytes(), row.message);
    if (std::string_view(row.attribute) == "kernel_shape") continue;
    set_string(conv(m), "auto_pad", "SAME_LOWER");
    (void)read_onnx_bytes(m.bytes(), ".", {});  // any answer, no crash
  }
  for (const int64_t group : {int64_t{0}, int64_t{-1}, int64_t{3}, kMax}) {
    TestModel m = conv_model({1, 2, 8}, {2, 2, 3});
    set_int(conv(m), "group", group);
    expect_error(m.bytes(), "input has 2 channels, weight 2x2x3 with group=");
  }
}

TEST(HostileOnnx, OperandsOfAConvMustAgree) {
  expect_error(conv_model({1, 4, 8, 8}, {8, 3, 3, 3}).bytes(),
               "input has 4 channels, weight 8x3x3x3 with group=1 expects 3");
  expect_error(conv_model({1, 2, 8, 8}, {2, 2, 3}).bytes(), "as many axes as the input");
  expect_error(conv_model({1, 2, 2}, {2, 2, 3}).bytes(), "effective kernel 3");
  TestModel bias = conv_model({1, 2, 8}, {2, 2, 3});
  bias.initializer("b", {3});
  conv(bias).add_input("b");
  expect_error(bias.bytes(), "bias has shape 3, expected 2");
  TestModel bare = conv_model({1, 2, 8}, {2, 2, 3});
  conv(bare).mutable_input()->RemoveLast();
  expect_error(bare.bytes(), "needs an input and a weight");
}

TEST(HostileOnnx, GraphsMustBeOrderedAndWriteOnce) {
  TestModel cycle;
  cycle.node("Relu", {"b"}, "a");
  cycle.node("Relu", {"a"}, "b");
  expect_error(cycle.bytes(), "which no earlier node writes (a cycle");
  TestModel twice;
  twice.input("x", {1});
  twice.node("Relu", {"x"}, "a");
  twice.node("Relu", {"x"}, "a");
  expect_error(twice.bytes(), "'a' is written twice");
}

// Deeper than protobuf's parser goes.
TEST(HostileOnnx, DeepSubgraphsAreRefused) {
  onnx::GraphProto graph;
  for (int depth = 0; depth < 200; ++depth) {
    onnx::GraphProto outer;
    onnx::NodeProto& node = *outer.add_node();
    node.set_op_type("If");
    onnx::AttributeProto& branch = *node.add_attribute();
    branch.set_name("then_branch");
    branch.mutable_g()->Swap(&graph);
    graph.Swap(&outer);
  }
  TestModel m;
  m.model.mutable_graph()->Swap(&graph);
  expect_error(m.bytes(), "truncated, damaged or no ONNX file");
}

TEST(HostileOnnx, LongChainsEndSoon) {
  TestModel m;
  m.input("x", {1, 2, 8}).initializer("w", {2, 2, 3});
  std::string last = "w";
  for (int i = 0; i < 50000; ++i) {
    const std::string next = "v" + std::to_string(i);
    m.node("Identity", {last}, next);
    last = next;
  }
  m.node("Conv", {"x", last}, "y");
  const Result<OnnxModel> model = read_onnx_bytes(m.bytes(), ".", {});
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_NE(model->convs[0].w, nullptr);
}

// libonnx 1.12 divides by the stride, and would add 2^40 dims one by one.
TEST(HostileOnnx, CrashesOfLibonnxAreContained) {
  TestModel m;
  m.input("x", {1, 2, 8}).input("n", {int64_t{1} << 40}).initializer("w", {2, 2, 3});
  m.node("ConstantOfShape", {"n"}, "c");
  auto& transposed = m.node("ConvTranspose", {"x", "w"}, "t");
  set_ints(transposed, "strides", {0});
  auto& pool = m.node("MaxPool", {"x"}, "p");
  set_ints(pool, "kernel_shape", {2});
  set_ints(pool, "strides", {0});
  m.node("Conv", {"p", "w"}, "y");
  const Result<OnnxModel> model = read_onnx_bytes(m.bytes(), ".", {});
  ASSERT_TRUE(model.ok()) << model.status().message();
  ASSERT_EQ(model->convs.size(), 2U);
  EXPECT_EQ(model->convs[1].state, OnnxConv::State::kUnknown);
}

TEST(HostileOnnx, FunctionsThatCallThemselvesEnd) {
  TestModel m = conv_model({1, 2, 8}, {2, 2, 3});
  auto& function = *m.model.add_functions();
  function.set_name("F");
  function.set_domain("own");
  auto& call = *function.add_node();
  call.set_op_type("F");
  call.set_domain("own");
  function.add_node()->set_op_type("Conv");
  m.node("F", {"x"}, "f").set_domain("own");
  m.node("Conv", {"f", "w"}, "z");
  const Result<OnnxModel> model = read_onnx_bytes(m.bytes(), ".", {});
  ASSERT_TRUE(model.ok()) << model.status().message();
  ASSERT_EQ(model->convs.size(), 3U);
  EXPECT_EQ(model->convs[1].state, OnnxConv::State::kUnknown);
  EXPECT_EQ(model->convs[2].state, OnnxConv::State::kUnknown);
  EXPECT_NE(model->convs[2].reason.find("inside a function"), std::string::npos);
}

}  // namespace
}  // namespace convoy::cli
