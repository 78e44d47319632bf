// Whether two strided views share memory: exact for the views that programs make.
#pragma once

#include <convoy/tensor.h>

namespace convoy {

// True where some byte belongs to both. Past a bounded search it answers true.
bool overlaps(const TensorView& a, const TensorView& b);
// True where two different indices of one view name the same element. Past the search: true.
bool self_overlaps(const TensorView& v);

}  // namespace convoy
