// What `run` computes: the fields of the text, those that arrays say, and no contradiction.
#pragma once

#include <convoy/problem.h>

#include <cstdint>
#include <vector>

namespace convoy::cli {

// Logical shapes of the arrays that a pass reads; empty where it reads none.
struct ArrayShapes {
  std::vector<int64_t> x, w, dy, bias;
};

// Fields that the text leaves out come from the arrays, the others must agree with them.
Result<ConvProblem> problem_of_arrays(const PartialProblem& text, const ArrayShapes& shapes);

}  // namespace convoy::cli
