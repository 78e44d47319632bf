// Random problems, guarded operands and the comparison with the reference for tests of CPU kernels.
#pragma once

#include <convoy/plan.h>

#include <cstddef>
#include <random>
#include <string>
#include <vector>

#include "launch/cpu/cpu_device.h"

namespace convoy::test {

// Memory between two pages that trap. The view lies at the front or flush with the back.
class GuardedBuffer {
 public:
  GuardedBuffer(size_t bytes, bool at_back);
  ~GuardedBuffer();
  GuardedBuffer(const GuardedBuffer&) = delete;
  GuardedBuffer& operator=(const GuardedBuffer&) = delete;
  std::byte* data() const { return data_; }
  size_t bytes() const { return bytes_; }

 private:
  void* mapping_;
  size_t mapped_, bytes_;
  std::byte* data_;
};

enum class Gaps { kNone, kRows, kEverywhere };  // kRows keeps stride 1 along the innermost axis
enum class Values { kIntegers, kNonFinite };

struct Trial {
  ConvProblem problem;
  Gaps gaps = Gaps::kNone;
  Values values = Values::kIntegers;
  unsigned seed = 1;
};

// A small valid problem of any rank.
ConvProblem random_problem(std::mt19937& random);

// Runs `kernel` and the reference; the first difference, or nothing where all elements agree.
// Sums are exact, so they agree bit for bit; long activations may differ by a few ulp.
std::string compare_with_reference(const Trial& trial, const std::string& kernel,
                                   const Device& device);

// The bytes of y, for tests of equal bits.
std::vector<std::byte> output_bytes(const Trial& trial, const std::string& kernel,
                                    const Device& device);

// The tiers to test: baseline, avx2, avx512 as far as this CPU has them.
std::vector<Device> tier_devices();

// `most` random trials, or the part that CONVOY_TEST_FRACTION asks for.
unsigned trials(unsigned most);

}  // namespace convoy::test
