// What a pass must compute, in f64, and how a result is judged against it.
#pragma once

#include <convoy/convoy.h>

#include <string>
#include <vector>

#include "kernel/reference/sums.h"
#include "support/storage.h"

namespace convoy::test {

// The operands of one problem as numbers, in logical order.
struct Values {
  std::vector<double> x, w, bias, dy;
};

// y, dx or dw element by element, with bias and activation; `magnitude` is the contract's
// sum|x*w| + |b|.
std::vector<Sum> expected_result(const ConvProblem& p, const Values& v);
std::vector<Sum> expected_db(const ConvProblem& p, const Values& v);

// kExact: the sums are exact in f32, so the result is the reference rounded once.
// kBound: the error bound of contract section 2 (`run --check`).
enum class Judge { kExact, kBound };

// Empty, or the first element of `got` that is unwritten or wrong, or damage beside the view.
// `products` is how many terms each element sums.
std::string first_fault(const ConvProblem& p, const std::vector<Sum>& expected, const Storage& got,
                        Judge judge, int64_t products);

// cpg*taps for y, kpg*taps for dx, N*positions for dw and db.
int64_t products_of(const ConvProblem& p);

}  // namespace convoy::test
