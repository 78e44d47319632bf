// The hardware limit of a problem: the longer of its bytes and its arithmetic at measured rates.
#include <convoy/device.h>

#include <algorithm>

namespace convoy {

Limit limit(int64_t flops, int64_t bytes, DType dtype, const Ceilings& ceilings) {
  const double matrix = dtype == DType::kBf16   ? ceilings.matrix_gflops
                        : dtype == DType::kF16  ? ceilings.matrix_f16_gflops
                        : dtype == DType::kTf32 ? ceilings.matrix_tf32_gflops
                                                : 0;
  const double gflops = std::max(matrix, ceilings.fma_gflops);
  const double copy_us = static_cast<double>(bytes) / (ceilings.copy_gbs(bytes) * 1e3);
  const double compute_us = gflops > 0 ? static_cast<double>(flops) / (gflops * 1e3) : 0;
  return {.us = std::max(copy_us, compute_us), .by_compute = compute_us > copy_us};
}

}  // namespace convoy
