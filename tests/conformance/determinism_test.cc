// One plan, any threads: the same bits. And the bits that `deterministic` promises.
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "conformance/runs.h"
#include "support/devices.h"
#include "support/fill.h"

namespace convoy::test {
namespace {

constexpr const char* kTexts[] = {
    "conv2d fprop f32 n8 c64 k128 g2 h16 w16 r1 s1",  // F24b
    "conv2d fprop f32 n8 c32 k32 g32 h16 w16 r3 s3 pad1",
    "conv2d fprop bf16 n8 c32 k32 g4 h13 w11 r3 s3 pad1 bias relu",
    "conv1d fprop f16 n8 c48 k48 g48 w33 s4 causal bias",
    "conv2d fprop f32 n8 c24 k40 h9 w9 r3 s3 stride2 pad1",
    "conv2d dgrad f32 n4 c32 k32 g32 h16 w16 r3 s3 pad1",  // F62
    "conv2d wgrad bf16 n4 c32 k32 g4 h16 w16 r3 s3 pad1 bias",
};

std::vector<double> sevenths(std::vector<double> values) {
  for (double& v : values)
    v /= 7;
  return values;
}

int64_t count(const Shape& shape) {
  int64_t out = 1;
  for (const int64_t size : shape.span())
    out *= size;
  return out;
}

Values values_for(const ConvProblem& p) {
  return {sevenths(fill(0, 5, count(x_shape(p)))), sevenths(fill(1, 3, count(w_shape(p)))),
          sevenths(fill(2, 2, p.K)), sevenths(fill(3, 2, count(y_shape(p))))};
}

std::vector<double> result_of(const ConvProblem& p, const Values& values, const Device& device,
                              const PlanOptions& options) {
  const Result<Plan> chosen = plan(p, device, options);
  if (!chosen) return {};
  const Operands operands(p, values, {});
  return chosen->run(operands.args()).ok() ? operands.result().values() : std::vector<double>();
}

// Kernels that accept, at each tier; a reference row once, since it has one code for all.
template <class F>
void each_kernel(const ConvProblem& p, F&& f) {
  for (const Isa tier : tiers()) {
    for (const std::string& kernel : accepting(p, cpu_of(tier, 2))) {
      if (!is_reference(kernel) || tier == tiers().back()) f(tier, kernel);
    }
  }
}

class Determinism : public testing::TestWithParam<const char*> {
 protected:
  static ConvProblem problem(Layout layout) {
    ConvProblem p = *parse_problem(GetParam());
    p.layout = layout;
    return p;
  }
};

TEST_P(Determinism, ThreadsAndRunsGiveTheSameBits) {
  for (const Layout layout : {Layout::kNchw, Layout::kNhwc}) {
    const ConvProblem p = problem(layout);
    const Values values = values_for(p);
    each_kernel(p, [&](Isa tier, const std::string& kernel) {
      const PlanOptions options{.kernel = kernel, .deterministic = true};
      const auto one = result_of(p, values, cpu_of(tier, 1), options);
      ASSERT_FALSE(one.empty());
      for (const int threads : {1, 2, 3}) {
        EXPECT_EQ(result_of(p, values, cpu_of(tier, threads), options), one)
            << to_text(p) << " " << kernel << " " << name(tier) << " " << threads;
      }
    });
  }
}

TEST_P(Determinism, ASampleDoesNotDependOnItsBatch) {
  const ConvProblem whole = problem(Layout::kNchw);
  if (whole.pass == Pass::kWgrad) GTEST_SKIP() << "wgrad sums over the batch";
  for (const Layout layout : {Layout::kNchw, Layout::kNhwc}) {
    const ConvProblem p = problem(layout);
    const Values values = values_for(p);
    ConvProblem first = p;
    first.N = 1;
    // The plan's own choice and every kernel by name.
    each_kernel(p, [&](Isa tier, const std::string& kernel) {
      for (const std::string& forced : {kernel, std::string()}) {
        const PlanOptions options{.kernel = forced, .deterministic = true};
        auto batch = result_of(p, values, cpu_of(tier, 2), options);
        const auto sample = result_of(first, values, cpu_of(tier, 1), options);
        ASSERT_GE(batch.size(), sample.size());
        batch.resize(sample.size());
        EXPECT_EQ(batch, sample) << to_text(p) << " " << forced << " " << name(tier);
      }
    });
  }
}

TEST_P(Determinism, OnePlanServesEightThreadsAtOnce) {
  const ConvProblem p = problem(Layout::kNhwc);
  const Values values = values_for(p);
  each_kernel(p, [&](Isa tier, const std::string& kernel) {
    const Result<Plan> chosen = plan(p, cpu_of(tier, 2), {.kernel = kernel});
    ASSERT_TRUE(chosen);
    const auto expected = result_of(p, values, cpu_of(tier, 2), {.kernel = kernel});
    std::atomic<int> wrong = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t) {
      threads.emplace_back([&] {
        const Operands operands(p, values, {});
        for (int i = 0; i < 3; ++i) {
          if (!chosen->run(operands.args()).ok() || operands.result().values() != expected) ++wrong;
        }
      });
    }
    for (std::thread& thread : threads)
      thread.join();
    EXPECT_EQ(wrong, 0) << kernel << " " << name(tier);
  });
}

TEST_P(Determinism, AReplacedPoolGivesTheSameBits) {
  const ConvProblem p = problem(Layout::kNhwc);
  const Values values = values_for(p);
  each_kernel(p, [&](Isa tier, const std::string& kernel) {
    const auto expected = result_of(p, values, cpu_of(tier, 2), {.kernel = kernel});
    // The order of the items is the pool's business.
    set_parallel_for([](int64_t items, const std::function<void(int64_t)>& body) {
      for (int64_t i = items; i-- > 0;)
        body(i);
    });
    const auto backwards = result_of(p, values, cpu_of(tier, 2), {.kernel = kernel});
    set_parallel_for({});
    EXPECT_EQ(backwards, expected) << kernel << " " << name(tier);
  });
}

INSTANTIATE_TEST_SUITE_P(Problems, Determinism, testing::ValuesIn(kTexts));

}  // namespace
}  // namespace convoy::test
