// Random ways to store a tensor: packed, permuted, with gaps, offset, with strides of zero.
#pragma once

#include "support/random.h"
#include "support/storage.h"

namespace convoy::test {

// `repeats` allows stride 0 on an axis, which only an input may have.
Form random_form(Random& random, const Shape& shape, Layout layout, bool repeats);
// A packed form of `shape` widened by gaps along every axis but the first.
Form gapped_form(const Shape& shape, Layout layout);

}  // namespace convoy::test
