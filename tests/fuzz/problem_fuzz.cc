// Any text as a problem: refused with one line, or parse(print(p)) == p and printing is idempotent.
#include <convoy/convoy.h>

#include <cstdlib>
#include <string_view>

using namespace convoy;  // NOLINT(google-build-using-namespace)

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Result<ConvProblem> problem = parse_problem(text);
  if (!problem) return 0;
  const std::string printed = to_text(*problem);
  const Result<ConvProblem> again = parse_problem(printed);
  if (!again || *again != *problem || to_text(*again) != printed) std::abort();
  if (flops(*problem) < 0 || bytes(*problem) <= 0 || gemm_k(*problem) <= 0) std::abort();
  for (int d = 0; d < 3; ++d) {
    if (out_extent(*problem, d) < 1) std::abort();
  }
  return 0;
}
