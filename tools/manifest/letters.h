// The letters that formulas may use, with their values for one problem.
#pragma once

#include <convoy/problem.h>

#include "manifest/formula.h"

namespace convoy::manifest {

// What a problem states, legal or not: N C K G; per axis of its rank the input D H W, the filter
// T R S, stride_h, dil_h, pad_h_begin, pad_h_end (d, w likewise).
Letters stated_letters(const ConvProblem& p);

// The same and what a legal problem implies: cpg kpg, the output Z P Q, read_h (the positions along
// h that some output reads; d, w likewise), size (bytes of an element) and bias_size (0 without).
Letters all_letters(const ConvProblem& p);

// 2 per multiply-add and one visit per element, counted by walking the loop nest of fprop.
struct Count {
  int64_t flops = 0;
  int64_t bytes = 0;
};
Count count_loop_nest(const ConvProblem& p);

}  // namespace convoy::manifest
