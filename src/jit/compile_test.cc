// The run-time compiler is found, compiles the device texts, and says what is wrong.
#include "jit/compile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "jit/device_text.h"
#include "jit/nvrtc.h"

namespace convoy {
namespace {

using ::testing::HasSubstr;

constexpr const char* kText = R"(
#include "kernel/gpu/device/lang.h"
struct Args {
  int* out;
};
CONVOY_KERNEL(convoy_main, 32, 1, Args) { *args.out = static_cast<int>(convoy::thread_index()); }
)";

// The tests that compile need the compiler, which `make test` installs and names in CONVOY_NVRTC.
bool has_compiler() {
  const char* named = std::getenv("CONVOY_NVRTC");
  configure_jit({.nvrtc = named == nullptr ? "" : named});
  return load_nvrtc(jit_options()).ok();
}

TEST(DeviceText, IsWhatTheFilesSay) {
  ASSERT_GE(device_texts().size(), 10U);
  for (const DeviceText& text : device_texts()) {
    std::ifstream file(std::string(CONVOY_SOURCE_DIR) + "/" + std::string(text.path));
    std::stringstream content;
    content << file.rdbuf();
    EXPECT_EQ(content.str(), text.text) << text.path;
  }
}

TEST(JitCompile, MakesMachineCodeForEveryArchitecture) {
  if (!has_compiler()) GTEST_SKIP() << "no NVRTC here";
  for (const char* arch : {"sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"}) {
    const Result<Image> image = compile({"probe", kText, "convoy_main"}, arch);
    ASSERT_TRUE(image.ok()) << arch << ": " << image.status().message();
    ASSERT_GT(image->cubin.size(), 64U);
    EXPECT_EQ(static_cast<char>(image->cubin[1]), 'E') << "an ELF file";
    EXPECT_GT(image->compile_ms, 0);
  }
}

TEST(JitCompile, AllowsInstructionsOfOneArchitecture) {
  if (!has_compiler()) GTEST_SKIP() << "no NVRTC here";
  Source source{"probe",
                "extern \"C\" __global__ void f() { asm volatile(\"wgmma.fence.sync.aligned;\"); }",
                "f"};
  EXPECT_FALSE(compile(source, "sm_90").ok());
  source.arch_specific = true;
  const Result<Image> image = compile(source, "sm_90");
  EXPECT_TRUE(image.ok()) << image.status().message();
  EXPECT_NE(compile_options(source, "sm_90"), compile_options({}, "sm_90"));
}

TEST(JitCompile, NamesTheErrorInAText) {
  if (!has_compiler()) GTEST_SKIP() << "no NVRTC here";
  const Result<Image> image = compile({"probe", "int f() { return no_such_word; }", "f"}, "sm_90");
  ASSERT_FALSE(image.ok());
  EXPECT_EQ(image.status().code(), Code::kInternal);
  EXPECT_THAT(image.status().message(), HasSubstr("no_such_word"));
  EXPECT_THAT(image.status().message(), HasSubstr("probe"));
  EXPECT_EQ(image.status().message().find('\n'), std::string::npos);
}

TEST(JitCompile, NamesAnArchitectureItLacks) {
  if (!has_compiler()) GTEST_SKIP() << "no NVRTC here";
  for (const char* arch : {"sm_35", "sm_999", "gfx942", ""}) {
    const Result<Image> image = compile({"probe", kText, "convoy_main"}, arch);
    ASSERT_FALSE(image.ok()) << arch;
    EXPECT_EQ(image.status().code(), Code::kUnavailable);
  }
}

TEST(Nvrtc, SaysWhereItIsMissing) {
  const Result<Nvrtc> missing = load_nvrtc({.nvrtc = "/nowhere/libnvrtc.so"});
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.status().code(), Code::kUnavailable);
  EXPECT_THAT(missing.status().message(), HasSubstr("/nowhere/libnvrtc.so"));
  EXPECT_FALSE(load_nvrtc({.nvrtc = "/usr"}).ok()) << "a folder without it";
  EXPECT_FALSE(load_nvrtc({.nvrtc = "libm.so.6"}).ok()) << "another library";
}

}  // namespace
}  // namespace convoy
