// What the host computes for a block-diagonal kernel: pure functions of a problem.
#pragma once

#include <convoy/problem.h>
#include <convoy/run_args.h>

#include "kernel/gpu/block_diagonal/block_diagonal_config.h"
#include "kernel/kernel.h"

namespace convoy {

// A configuration that the kernel can run and the length of its row segments.
struct BlockDiagonalChoice {
  BlockDiagonalConfig compiled;
  int64_t segment = 0;
  int residents = 1;  // blocks that a multiprocessor must hold, which limits registers
};

// Fills what the problem fixes of a configuration; the tiling is left alone.
void describe(const ConvProblem& p, BlockDiagonalConfig& config);

// Blocks that a multiprocessor of that compute capability holds without spilled registers; 0 where
// even one spills.
int block_diagonal_residents(const BlockDiagonalConfig& config, int capability);

BlockDiagonalArgs block_diagonal_args(const ConvProblem& p, const BlockDiagonalChoice& choice,
                                      const RunArgs& operands);
int64_t block_diagonal_blocks(const BlockDiagonalArgs& args, const BlockDiagonalConfig& config);

std::string spell(const BlockDiagonalConfig& config);

}  // namespace convoy
