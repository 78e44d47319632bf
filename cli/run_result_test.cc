// What a run leaves behind when its check passes, fails, or a file cannot be written.
#include "run_result.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>

namespace convoy::cli {
namespace {

class RunResult : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(testing::TempDir()) /
              ("convoy_run_result_" + std::to_string(::getpid()));
    std::filesystem::create_directory(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string path(const char* name) const { return (folder_ / name).string(); }
  size_t files() const {
    return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(folder_), {}));
  }
  ResultFile file(const std::string& path) {
    return {path, packed(values_, DType::kF32, std::array<int64_t, 1>{3}), "--out"};
  }
  static RunOutcome outcome(bool ok) {
    return {.problem = "p",
            .kernel = "k",
            .device = "cpu",
            .time_us = 1,
            .check = CheckReport{.max_abs_err = 2, .max_rel_err = 0.5, .ok = ok}};
  }

 private:
  std::filesystem::path folder_;
  float values_[3] = {1, 2, 3};
};

TEST_F(RunResult, APassedCheckWritesAndGivesZero) {
  const ResultFile files_of_run[] = {file(path("dw.npy")), file(path("db.npy"))};
  const Result<int> exit = finish_run(outcome(true), files_of_run, {.quiet = true});
  ASSERT_TRUE(exit.ok()) << exit.status().message();
  EXPECT_EQ(*exit, kDone);
  EXPECT_EQ(files(), 2U);
}

TEST_F(RunResult, AFailedCheckWritesNothingAndGivesFour) {
  const ResultFile one[] = {file(path("y.npy"))};
  testing::internal::CaptureStdout();
  const Result<int> exit = finish_run(outcome(false), one, {});
  const std::string text = testing::internal::GetCapturedStdout();
  ASSERT_TRUE(exit.ok()) << exit.status().message();
  EXPECT_EQ(*exit, kCheckFailed);
  EXPECT_EQ(files(), 0U);
  EXPECT_NE(text.find("check: max_abs_err 2 max_rel_err 0.5 FAILED\n"), std::string::npos) << text;
}

TEST_F(RunResult, QuietStillTellsOfAFailure) {
  const ResultFile one[] = {file(path("y.npy"))};
  testing::internal::CaptureStdout();
  EXPECT_EQ(*finish_run(outcome(false), one, {.quiet = true}), kCheckFailed);
  EXPECT_NE(testing::internal::GetCapturedStdout().find("FAILED"), std::string::npos);
}

TEST_F(RunResult, TheDocumentSaysThatTheCheckFailed) {
  const ResultFile one[] = {file(path("y.npy"))};
  testing::internal::CaptureStdout();
  EXPECT_EQ(*finish_run(outcome(false), one, {.json = true}), kCheckFailed);
  const auto told = nlohmann::json::parse(testing::internal::GetCapturedStdout());
  EXPECT_EQ(told["check"],
            nlohmann::json({{"max_abs_err", 2.0}, {"max_rel_err", 0.5}, {"ok", false}}));
  EXPECT_EQ(files(), 0U);
}

TEST_F(RunResult, OneUnwritableFileLeavesNone) {
  const ResultFile two[] = {file(path("dw.npy")), file(path("no/such/db.npy"))};
  const Result<int> exit = finish_run(outcome(true), two, {.quiet = true});
  ASSERT_FALSE(exit.ok());
  EXPECT_EQ(exit.status().code(), Code::kInvalid);
  EXPECT_EQ(files(), 0U);
}

}  // namespace
}  // namespace convoy::cli
