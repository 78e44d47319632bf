// The reader of machine code sees what the compiler made, and survives anything else.
#include "jit/cubin.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "jit/compile.h"
#include "jit/nvrtc.h"

namespace convoy {
namespace {

// A matrix step over an asynchronous copy; with kLocal, a local array read at a run-time index.
constexpr const char* kText = R"(
#include "kernel/gpu/device/element.h"
using namespace convoy;
struct Args {
  const u32* x;
  float* y;
};
CONVOY_KERNEL(convoy_main, 32, 1, Args) {
  u8* mine = shared_memory<u8>() + 16 * lane_index();
  copy_async<16>(mine, args.x, true);
  commit_copies();
  wait_copies<0>();
  sync_block();
  u32 a[4];
  load_matrix<4>(a, mine);
  float d[4] = {};
  const u32 b[2] = {a[0], a[1]};
  multiply_add<F16, 16>(d, a, b);
  if (kLocal) {
    float many[40];
    for (int i = 0; i < 40; ++i)
      many[i] = args.y[i];
    d[0] += many[a[0] % 40];
  }
  args.y[lane_index()] = fused_multiply_add(d[0], d[1], d[2]);
}
)";

Result<Image> image_of(const char* arch, bool local) {
  const char* named = std::getenv("CONVOY_NVRTC");
  configure_jit({.nvrtc = named == nullptr ? "" : named});
  const std::string constant =
      local ? "constexpr bool kLocal = true;\n" : "constexpr bool kLocal = false;\n";
  return compile({"probe", constant + kText, "convoy_main"}, arch);
}

bool has_compiler() {
  return image_of("sm_90", false).ok();
}

TEST(Cubin, CountsWhatACompiledKernelHolds) {
  if (!has_compiler()) GTEST_SKIP() << "no NVRTC here";
  for (const char* arch : {"sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"}) {
    const Result<CubinFacts> clean = inspect(image_of(arch, false)->cubin);
    ASSERT_TRUE(clean.ok()) << clean.status().message();
    EXPECT_EQ(clean->matrix, 1) << arch;
    EXPECT_EQ(clean->load_matrix, 1) << arch;
    EXPECT_EQ(clean->async_copy, 1) << arch;
    EXPECT_EQ(clean->fma, 1) << arch;
    EXPECT_EQ(clean->local, 0) << arch;
    EXPECT_EQ(clean->stack_bytes, 0) << arch;
    EXPECT_GT(clean->registers, 7) << arch;
    EXPECT_LT(clean->registers, 64) << arch;
    const Result<CubinFacts> local = inspect(image_of(arch, true)->cubin);
    ASSERT_TRUE(local.ok());
    EXPECT_EQ(local->stack_bytes, 160) << arch;
    EXPECT_GT(local->local, 1) << arch;
  }
}

TEST(Cubin, RefusesWhatIsNone) {
  EXPECT_FALSE(inspect({}).ok());
  std::vector<std::byte> zeros(1000);
  EXPECT_FALSE(inspect(zeros).ok());
}

// Cut anywhere and with bytes changed it says something or is refused; it reads nothing outside.
TEST(Cubin, SurvivesDamage) {
  if (!has_compiler()) GTEST_SKIP() << "no NVRTC here";
  const std::vector<std::byte> whole = image_of("sm_90", false)->cubin;
  for (size_t length = 0; length < whole.size(); length += 37) {
    const std::vector<std::byte> cut(whole.begin(), whole.begin() + static_cast<long>(length));
    const bool ok = inspect(cut).ok();  // the program headers at the end are not needed
    EXPECT_FALSE(ok && length < whole.size() / 2) << length;
  }
  std::mt19937 random(1);
  for (int i = 0; i < 3000; ++i) {
    std::vector<std::byte> changed = whole;
    for (int k = 0; k < 4; ++k)
      changed[random() % changed.size()] = static_cast<std::byte>(random());
    const Result<CubinFacts> facts = inspect(changed);
    if (facts) {
      EXPECT_GE(facts->instructions, 1);
    }
  }
}

}  // namespace
}  // namespace convoy
