// The fill rule of the field cases: small integers that every implementation can reproduce.
#pragma once

#include <cstdint>
#include <vector>

namespace convoy::test {

// Integers in [-m, m]; a permuted congruential generator (O'Neill 2014) over the flat index.
inline std::vector<double> fill(uint32_t s, uint32_t m, int64_t count) {
  std::vector<double> out(static_cast<size_t>(count));
  for (uint32_t i = 0; i < out.size(); ++i) {
    const uint32_t v = (i + 1000003U * s) * 747796405U + 2891336453U;
    const uint32_t u = ((v >> ((v >> 28) + 4)) ^ v) * 277803737U;
    const uint32_t r = (u >> 22) ^ u;
    out[i] = static_cast<double>(r % (2 * m + 1)) - m;
  }
  return out;
}

}  // namespace convoy::test
