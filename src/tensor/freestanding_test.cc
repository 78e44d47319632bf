// Compiles the room's headers as the run-time compiler does: without any standard header.
#include "tensor/igemm_descriptors.h"
#include "tensor/igemm_limits.h"

namespace convoy {

template struct InputDescriptor<i32, false>;
template struct InputDescriptor<i32, true>;
template struct InputDescriptor<i64, true>;
template struct FilterDescriptor<i32, false>;
template struct FilterDescriptor<i32, true>;
template struct MergedFilterDescriptor<i32>;
template struct OutputDescriptor<i32, false>;
template struct OutputDescriptor<i32, true>;

bool fits_i32_of(const IgemmSizes& sizes) {
  return fits_i32(sizes, 256);
}
VectorWidths widths_of(const IgemmSizes& sizes) {
  return vector_widths(sizes, 2, {16, 16, 16});
}

}  // namespace convoy
