// ONNX's own node tests of convolution: every Conv against its expected output, the rest listed.
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <filesystem>
#include <fstream>

#include "onnx/measure_conv.h"
#include "onnx/tensor_data.h"

namespace convoy::cli {
namespace {

namespace fs = std::filesystem;

const fs::path kData = "/usr/share/libonnx-testdata/data";

template <class Message>
Message load(const fs::path& path) {
  Message message;
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(message.ParseFromIstream(&file)) << path;
  return message;
}

// Folders under `group` whose name holds "conv", in either case.
std::vector<fs::path> folders(const std::string& group) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(kData / group)) {
    const std::string name = entry.path().filename();
    if (name.find("conv") != std::string::npos || name.find("Conv") != std::string::npos) {
      found.push_back(entry.path());
    }
  }
  return found;
}

// A model whose only node is one Conv, with the tensors of its first data set.
class Case {
 public:
  Case(const fs::path& folder, const OnnxConv& conv) : folder_(folder), conv_(conv) {
    const auto model = load<onnx::ModelProto>(folder / "model.onnx");
    std::map<std::string, bool> initialized;
    for (const auto& tensor : model.graph().initializer())
      initialized[tensor.name()] = true;
    for (const auto& input : model.graph().input()) {
      if (!initialized[input.name()]) names_.push_back(input.name());
    }
  }

  // The model's constant, or the input file of that name.
  OnnxTensor operand(size_t i, const std::shared_ptr<const OnnxTensor>& constant) const {
    if (constant) return *constant;
    for (size_t n = 0; n < names_.size(); ++n) {
      if (names_[n] == conv_.inputs[i]) return file("input_" + std::to_string(n) + ".pb");
    }
    ADD_FAILURE() << folder_ << ": no data for " << conv_.inputs[i];
    return {};
  }

  OnnxTensor file(const std::string& name) const {
    const auto tensor = load<onnx::TensorProto>(folder_ / "test_data_set_0" / name);
    EXPECT_TRUE(check_tensor(tensor, "").ok());
    Result<OnnxTensor> values = read_tensor(tensor, "");
    EXPECT_TRUE(values.ok()) << values.status().message();
    return values ? *values : OnnxTensor{};
  }

 private:
  fs::path folder_;
  const OnnxConv& conv_;
  std::vector<std::string> names_;
};

TensorView view(OnnxTensor& t) {
  return packed(t.bytes.data(), t.dtype, t.sizes);
}

void expect_output(const fs::path& folder, const OnnxConv& conv) {
  SCOPED_TRACE(folder.string() + " " + to_text(conv.problem));
  const Case data(folder, conv);
  OnnxTensor x = data.operand(0, nullptr), w = data.operand(1, conv.w), bias;
  OnnxTensor expected = data.file("output_0.pb"), y = expected;
  RunArgs args{.x = view(x), .w = view(w), .y = view(y)};
  if (conv.problem.bias != BiasType::kNone) {
    bias = data.operand(2, conv.bias);
    args.bias = view(bias);
  }
  std::fill(y.bytes.begin(), y.bytes.end(), std::byte{0xff});
  Result<Plan> p = plan(conv.problem, *device("cpu"));
  ASSERT_TRUE(p.ok()) << p.status().message();
  const Status ran = p->run(args);
  ASSERT_TRUE(ran.ok()) << ran.message();
  const auto* got = reinterpret_cast<const float*>(y.bytes.data());
  const auto* want = reinterpret_cast<const float*>(expected.bytes.data());
  for (size_t i = 0; i < y.bytes.size() / sizeof(float); ++i)
    ASSERT_NEAR(got[i], want[i], 1e-5 + 1e-4 * std::abs(want[i])) << "element " << i;
}

struct Counts {
  int run = 0, other = 0;
};

void run_group(const std::string& group, Counts& counts) {
  for (const fs::path& folder : folders(group)) {
    Result<OnnxModel> model = read_onnx(folder / "model.onnx", {});
    ASSERT_TRUE(model.ok()) << folder << ": " << model.status().message();
    for (const OnnxConv& conv : model->convs) {
      if (conv.state == OnnxConv::State::kSkipped) {
        ++counts.other;
        EXPECT_NE(conv.reason.find("another operation"), std::string::npos) << conv.reason;
        continue;
      }
      ASSERT_EQ(conv.state, OnnxConv::State::kReady) << folder << ": " << conv.reason;
      ++counts.run;
      expect_output(folder, conv);
    }
  }
}

TEST(OnnxSuite, EveryConvNodeMatchesAndOtherOperatorsAreListed) {
  if (!fs::exists(kData)) GTEST_SKIP() << "install libonnx-testdata";
  Counts counts;
  run_group("node", counts);
  EXPECT_EQ(counts.run, 6);
  EXPECT_EQ(counts.other, 14);  // 10 ConvTranspose, 3 ConvInteger, QLinearConv
  run_group("pytorch-converted", counts);
  EXPECT_EQ(counts.run, 6 + 26);
  EXPECT_EQ(counts.other, 14 + 2);
  run_group("pytorch-operator", counts);
  EXPECT_EQ(counts.run, 6 + 26 + 1);
  EXPECT_EQ(counts.other, 14 + 2 + 1);
}

TEST(OnnxSuite, AuditMeasuresAConvOfTheSuite) {
  if (!fs::exists(kData)) GTEST_SKIP() << "install libonnx-testdata";
  const Result<OnnxModel> model =
      read_onnx(kData / "pytorch-converted/test_Conv2d_depthwise/model.onnx", {});
  ASSERT_TRUE(model.ok()) << model.status().message();
  ASSERT_EQ(model->convs.size(), 1U);
  ConvMeasurer measurer(*device("cpu"), {});
  const Result<ConvMeasurement> measured = measurer.measure(model->convs[0]);
  ASSERT_TRUE(measured.ok()) << measured.status().message();
  EXPECT_TRUE(measured->check.ok);
  EXPECT_GT(measured->time_us, 0);
  EXPECT_GT(measured->limit_us, 0);
}

}  // namespace
}  // namespace convoy::cli
