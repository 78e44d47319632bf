// The operands of a problem's pass as a list, and seeded values for them.
#pragma once

#include <convoy/plan.h>

#include <cstdint>
#include <vector>

namespace convoy::bench {

struct Operand {
  const char* name;
  TensorView RunArgs::* view;  // where it goes in a call
  Shape shape;
  DType dtype;
  bool output;
};

// What run() reads and writes: inputs first. wgrad gives db where the problem has a bias.
std::vector<Operand> operands(const ConvProblem& problem);

// Bytes of a packed operand, rounded up to whole cache lines.
int64_t padded_bytes(const Operand& operand);

// A packed view in the problem's layout over `memory`.
TensorView place(const Operand& operand, const ConvProblem& problem, void* memory);

// Standard normal values from `seed`, rounded to the dtype of the view.
Status fill_normal(const TensorView& view, uint64_t seed);

// Every byte 0xff, which is a NaN in f32, f16 and bf16.
void fill_nan(void* memory, int64_t bytes);

}  // namespace convoy::bench
