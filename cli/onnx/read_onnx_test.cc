// Reading Conv nodes: attributes, weights, dims and shapes of models built here.
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "onnx/onnx_model.h"
#include "onnx/test_model.h"

namespace convoy::cli {
namespace {

using State = OnnxConv::State;

Result<OnnxModel> read(const TestModel& m, const OnnxOptions& options = {}) {
  return read_onnx_bytes(m.bytes(), ".", options);
}

// The problem text of the only Conv, or why there is none.
std::string problem_of(const TestModel& m, const OnnxOptions& options = {}) {
  const Result<OnnxModel> model = read(m, options);
  if (!model) return model.status().message();
  if (model->convs.size() != 1) return "convs: " + std::to_string(model->convs.size());
  const OnnxConv& conv = model->convs[0];
  return conv.state == State::kReady ? to_text(conv.problem) : conv.reason;
}

// x 1x4x8x9, w 4x1x3x4 in 4 groups, and what `auto_pad` and the lists say.
std::string depthwise(const std::string& auto_pad, int64_t stride, int64_t dilation = 1) {
  TestModel m;
  m.input("x", {1, 4, 8, 9}).initializer("w", {4, 1, 3, 4});
  auto& node = m.node("Conv", {"x", "w"}, "y");
  set_int(node, "group", 4);
  set_ints(node, "strides", {stride, stride});
  set_ints(node, "dilations", {dilation, dilation});
  if (!auto_pad.empty()) set_string(node, "auto_pad", auto_pad);
  return problem_of(m);
}

TEST(ReadOnnx, ResolvesAutoPad) {
  const std::string head = "conv2d fprop f32 n1 c4 k4 g4 h8 w9 r3 s4";
  EXPECT_EQ(depthwise("", 1), head);
  EXPECT_EQ(depthwise("NOTSET", 1), head);
  EXPECT_EQ(depthwise("VALID", 2), head + " stride2");
  EXPECT_EQ(depthwise("SAME_UPPER", 1), head + " pad1x1:2");
  EXPECT_EQ(depthwise("SAME_LOWER", 1), head + " pad1x2:1");
  EXPECT_EQ(depthwise("SAME_UPPER", 2), head + " stride2 pad0:1x1:2");
  EXPECT_EQ(depthwise("SAME_LOWER", 2), head + " stride2 pad1:0x2:1");
  EXPECT_EQ(depthwise("SAME_UPPER", 1, 2), head + " pad2x3 dil2");
  EXPECT_EQ(depthwise("SAME_UPPER", 9), head + " stride9");
  EXPECT_NE(depthwise("SAME", 1).find("auto_pad 'SAME' must be"), std::string::npos);
}

TEST(ReadOnnx, ReadsPadsPerSideBiasAndRanks) {
  TestModel m;
  m.input("x", {2, 4, 7}).initializer("w", {6, 2, 3});
  m.initializer("b", {6});
  auto& node = m.node("Conv", {"x", "w", "b"}, "y");
  set_int(node, "group", 2);
  set_ints(node, "pads", {2, 0});
  EXPECT_EQ(problem_of(m), "conv1d fprop f32 n2 c4 k6 g2 w7 s3 pad2:0 bias");

  TestModel volume;
  volume.input("x", {1, 2, 4, 5, 6}).initializer("w", {2, 1, 1, 2, 3});
  set_int(volume.node("Conv", {"x", "w"}, "y"), "group", 2);
  EXPECT_EQ(problem_of(volume), "conv3d fprop f32 n1 c2 k2 g2 d4 h5 w6 t1 r2 s3");

  OnnxOptions options{.dtype = DType::kBf16, .layout = Layout::kNhwc};
  EXPECT_EQ(problem_of(m, options), "conv1d fprop bf16 n2 c4 k6 g2 w7 s3 pad2:0 nhwc bias");
}

TEST(ReadOnnx, GivesWeightsInTheDtypeOfTheProblem) {
  TestModel m;
  m.input("x", {1, 1, 5});
  auto& half = *m.model.mutable_graph()->add_initializer();
  half.set_name("w16");
  half.set_data_type(onnx::TensorProto::FLOAT16);
  for (const int64_t dim : {1, 1, 2})
    half.add_dims(dim);
  for (const double v : {1.5, -2.0})
    half.add_int32_data(Half::from(v).bits);
  m.node("Identity", {"w16"}, "same");
  m.node("Conv", {"x", "same"}, "y16");
  set_int(m.node("Cast", {"same"}, "w32"), "to", onnx::TensorProto::FLOAT);
  m.node("Conv", {"x", "w32"}, "y32");

  const Result<OnnxModel> model = read(m);
  ASSERT_TRUE(model.ok()) << model.status().message();
  ASSERT_EQ(model->convs.size(), 2U);
  EXPECT_EQ(model->convs[0].problem.dtype, DType::kF16);
  EXPECT_EQ(model->convs[1].problem.dtype, DType::kF32);
  ASSERT_EQ(model->convs[1].w->bytes.size(), 8U);
  float values[2];
  std::memcpy(values, model->convs[1].w->bytes.data(), 8);
  EXPECT_EQ(values[0], 1.5f);
  EXPECT_EQ(values[1], -2.0f);
}

TEST(ReadOnnx, RoundsDoubleWeightsOfAConstantNodeToF32) {
  TestModel m;
  m.input("x", {1, 1, 5});
  auto& value = *m.node("Constant", {}, "w").add_attribute();
  value.set_name("value");
  value.set_type(onnx::AttributeProto::TENSOR);
  auto& tensor = *value.mutable_t();
  tensor.set_data_type(onnx::TensorProto::DOUBLE);
  for (const int64_t dim : {1, 1, 1})
    tensor.add_dims(dim);
  tensor.add_double_data(0.1);
  m.node("Conv", {"x", "w"}, "y");
  const Result<OnnxModel> model = read(m);
  ASSERT_TRUE(model.ok()) << model.status().message();
  float w = 0;
  ASSERT_EQ(model->convs[0].w->bytes.size(), sizeof w);
  std::memcpy(&w, model->convs[0].w->bytes.data(), sizeof w);
  EXPECT_EQ(w, 0.1f);
}

TEST(ReadOnnx, WeightsOfRunTimeHaveNoValues) {
  TestModel m;
  m.input("x", {1, 2, 5}).input("w", {2, 1, 3});
  set_int(m.node("Conv", {"x", "w"}, "y"), "group", 2);
  const Result<OnnxModel> model = read(m);
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_EQ(model->convs[0].state, State::kReady);
  EXPECT_EQ(model->convs[0].w, nullptr);
}

TestModel dynamic() {
  TestModel m;
  m.input("x", {0, 1, 0}).initializer("w", {1, 1, 3});
  m.node("Conv", {"x", "w"}, "y");
  return m;
}

TEST(ReadOnnx, DynamicDimsAreNamedWithTheirFix) {
  const std::string missing = problem_of(dynamic());
  EXPECT_NE(missing.find("'d2' of input 'x'"), std::string::npos) << missing;
  EXPECT_NE(missing.find("--batch N --dim d2=N"), std::string::npos) << missing;
  EXPECT_EQ(problem_of(dynamic(), {.batch = 3, .dims = {{"d2", 9}}}),
            "conv1d fprop f32 n3 c1 k1 w9 s3");
  EXPECT_EQ(problem_of(dynamic(), {.dims = {{"d0", 2}, {"x.2", 8}}}),
            "conv1d fprop f32 n2 c1 k1 w8 s3");
  const std::string unused = problem_of(dynamic(), {.batch = 1, .dims = {{"d2", 9}, {"h", 1}}});
  EXPECT_NE(unused.find("--dim h=1 names no open dim of its inputs; they are: d0, d2"),
            std::string::npos)
      << unused;
}

TEST(ReadOnnx, BatchOfAFixedModelIsRefused) {
  TestModel m;
  m.input("x", {2, 1, 5}).initializer("w", {1, 1, 3});
  m.node("Conv", {"x", "w"}, "y");
  EXPECT_NE(problem_of(m, {.batch = 4}).find("input 'x' has the fixed batch 2"), std::string::npos);
  EXPECT_EQ(problem_of(m, {.batch = 2}), "conv1d fprop f32 n2 c1 k1 w5 s3");
}

TEST(ReadOnnx, ShapesPassOperatorsOfNewerOpsets) {
  TestModel m(20);
  m.input("x", {1, 2, 8, 8}).initializer("w", {2, 1, 3, 3});
  m.node("Gelu", {"x"}, "a");
  auto& pool = m.node("AveragePool", {"a"}, "b");  // dilations: opset 19
  set_ints(pool, "kernel_shape", {3, 3});
  set_ints(pool, "dilations", {2, 2});
  m.integers("axes", {2, 3}).node("ReduceMean", {"b", "axes"}, "c");  // axes as input: opset 18
  m.node("Mul", {"b", "c"}, "d");
  m.node("Mish", {"d"}, "e");
  m.node("MatMul", {"e", "e"}, "f");
  auto& conv = m.node("Conv", {"f", "w"}, "y");
  set_int(conv, "group", 2);
  EXPECT_EQ(problem_of(m), "conv2d fprop f32 n1 c2 k2 g2 h4 w4 r3 s3");
}

TEST(ReadOnnx, LibonnxInfersWhatTheOwnRulesLack) {
  TestModel m(20);
  m.input("x", {1, 8, 4, 4}).initializer("w", {2, 2, 3, 3});
  m.node("Gelu", {"x"}, "a");
  auto& d2s = m.node("DepthToSpace", {"a"}, "b");
  set_int(d2s, "blocksize", 2);
  m.node("Conv", {"b", "w"}, "y");
  EXPECT_EQ(problem_of(m), "conv2d fprop f32 n1 c2 k2 h8 w8 r3 s3");
}

TEST(ReadOnnx, ComputedReshapeIsFolded) {
  TestModel m;
  m.input("x", {2, 6, 4}).initializer("w", {3, 3, 3});
  m.integers("zero", {0}).integers("rest", {3, -1});
  m.node("Shape", {"x"}, "s");
  m.node("Gather", {"s", "zero"}, "n");
  set_int(m.node("Concat", {"n", "rest"}, "target"), "axis", 0);
  m.node("Reshape", {"x", "target"}, "r");
  m.node("Conv", {"r", "w"}, "y");
  EXPECT_EQ(problem_of(m), "conv1d fprop f32 n2 c3 k3 w8 s3");
}

TEST(ReadOnnx, UnknownShapesAndOtherOperatorsAreListed) {
  TestModel m;
  m.input("x", {1, 2, 8}).initializer("w", {2, 2, 3});
  m.node("Mystery", {"x"}, "a").set_domain("com.example");
  m.node("Conv", {"a", "w"}, "y");
  m.node("ConvTranspose", {"x", "w"}, "z");
  m.node("Conv", {"x", "w"}, "foreign").set_domain("com.example");
  const Result<OnnxModel> model = read(m);
  ASSERT_TRUE(model.ok()) << model.status().message();
  ASSERT_EQ(model->convs.size(), 3U);
  EXPECT_EQ(model->convs[0].state, State::kUnknown);
  EXPECT_EQ(model->convs[0].node, "y");
  EXPECT_EQ(model->convs[0].reason, "the output shape of Mystery 'a' is not known");
  EXPECT_EQ(model->convs[1].state, State::kSkipped);
  EXPECT_EQ(model->convs[2].state, State::kSkipped);
}

TEST(ReadOnnx, ConvsOfSubgraphsAreListed) {
  TestModel m;
  m.input("x", {1, 2, 8}).initializer("w", {2, 2, 3});
  TestModel branch;
  branch.node("Conv", {"x", "w"}, "inner");
  auto& attribute = *m.node("If", {"x"}, "y").add_attribute();
  attribute.set_name("then_branch");
  attribute.set_type(onnx::AttributeProto::GRAPH);
  *attribute.mutable_g() = branch.model.graph();
  EXPECT_EQ(problem_of(m), "conv1d fprop f32 n1 c2 k2 w8 s3");
}

class ExternalData : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "convoy_external_" +
              testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_ + "/sub");
    const float values[] = {9, 1, 2, 3};
    std::ofstream(folder_ + "/sub/w.bin", std::ios::binary)
        .write(reinterpret_cast<const char*>(values), sizeof values);
    std::ofstream(folder_ + "/../convoy_secret.bin") << std::string(64, 's');
  }

  Result<OnnxModel> read_at(const std::string& location, const std::string& offset,
                            const std::string& length) const {
    TestModel m;
    m.input("x", {1, 1, 5});
    auto& w = m.initializer("w", {1, 1, 3});
    w.clear_float_data();
    w.set_data_location(onnx::TensorProto::EXTERNAL);
    for (const auto& [key, value] :
         {std::pair{"location", location}, {"offset", offset}, {"length", length}}) {
      if (value.empty()) continue;
      auto& entry = *w.add_external_data();
      entry.set_key(key);
      entry.set_value(value);
    }
    m.node("Conv", {"x", "w"}, "y");
    std::ofstream(folder_ + "/m.onnx", std::ios::binary) << m.bytes();
    return read_onnx(folder_ + "/m.onnx", {});
  }

  void expect_refused(const std::string& location, const std::string& offset,
                      const std::string& length, const std::string& message) const {
    const Result<OnnxModel> model = read_at(location, offset, length);
    ASSERT_FALSE(model.ok()) << location;
    EXPECT_EQ(model.status().code(), Code::kInvalid);
    EXPECT_NE(model.status().message().find(message), std::string::npos)
        << model.status().message();
  }

  std::string folder_;
};

TEST_F(ExternalData, IsReadInsideTheFolder) {
  for (const char* length : {"12", ""}) {
    const Result<OnnxModel> model = read_at("sub/w.bin", "4", length);
    ASSERT_TRUE(model.ok()) << model.status().message();
    float values[3];
    ASSERT_EQ(model->convs[0].w->bytes.size(), sizeof values);
    std::memcpy(values, model->convs[0].w->bytes.data(), sizeof values);
    EXPECT_EQ(values[0], 1.0f);
    EXPECT_EQ(values[2], 3.0f);
  }
}

TEST_F(ExternalData, NeverLeavesTheFolderOrTheFile) {
  expect_refused("../convoy_secret.bin", "0", "12", "must be a path inside");
  expect_refused("sub/../../convoy_secret.bin", "0", "12", "must be a path inside");
  expect_refused(folder_ + "/sub/w.bin", "0", "12", "must be a path inside");
  expect_refused("", "0", "12", "must be a path inside");
  std::filesystem::create_symlink("../convoy_secret.bin", folder_ + "/link.bin");
  expect_refused("link.bin", "0", "12", "leads out of");
  expect_refused("sub", "0", "12", "must be a regular file");
  expect_refused("absent.bin", "0", "12", "No such file");
  expect_refused("sub/w.bin", "8", "12", "exceed the file");
  expect_refused("sub/w.bin", "9223372036854775807", "12", "exceed the file");
  expect_refused("sub/w.bin", "-4", "12", "must be a whole number");
  expect_refused("sub/w.bin", "4x", "12", "must be a whole number");
  expect_refused("sub/w.bin", "0", "16", "length 16 must be the 12 bytes");
}

}  // namespace
}  // namespace convoy::cli
