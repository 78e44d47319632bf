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
};

// Fills what the problem fixes of a configuration; the tiling is left alone.
void describe(const ConvProblem& p, BlockDiagonalConfig& config);

// Registers of a thread: the least limit to compile with that spills nothing, 0 where none does.
int block_diagonal_registers(const BlockDiagonalConfig& config);
// Blocks that a multiprocessor holds at that many registers.
int block_diagonal_residents(const BlockDiagonalConfig& config);

BlockDiagonalArgs block_diagonal_args(const ConvProblem& p, const BlockDiagonalChoice& choice,
                                      const RunArgs& operands);
int64_t block_diagonal_blocks(const BlockDiagonalArgs& args, const BlockDiagonalConfig& config);

std::string spell(const BlockDiagonalConfig& config);

}  // namespace convoy
