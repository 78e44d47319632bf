// The operands of a problem's pass as a list, and seeded values for them.
#include "bench/operands.h"

#include <convoy/convoy.h>

#include <cstring>
#include <random>

namespace convoy::bench {

std::vector<Operand> operands(const ConvProblem& p) {
  const Shape x = x_shape(p), w = w_shape(p), y = y_shape(p);
  const Operand bias{"bias", &RunArgs::bias, bias_shape(p), bias_dtype(p), false};
  std::vector<Operand> list;
  if (p.pass == Pass::kFprop) {
    list = {{"x", &RunArgs::x, x, p.dtype, false}, {"w", &RunArgs::w, w, p.dtype, false}};
    if (p.bias != BiasType::kNone) list.push_back(bias);
    list.push_back({"y", &RunArgs::y, y, p.dtype, true});
  } else if (p.pass == Pass::kDgrad) {
    list = {{"dy", &RunArgs::dy, y, p.dtype, false},
            {"w", &RunArgs::w, w, p.dtype, false},
            {"dx", &RunArgs::dx, x, p.dtype, true}};
  } else {
    list = {{"x", &RunArgs::x, x, p.dtype, false},
            {"dy", &RunArgs::dy, y, p.dtype, false},
            {"dw", &RunArgs::dw, w, p.dtype, true}};
    if (p.bias != BiasType::kNone) {
      list.push_back({"db", &RunArgs::db, bias.shape, bias.dtype, true});
    }
  }
  return list;
}

int64_t padded_bytes(const Operand& operand) {
  int64_t elements = 1;
  for (const int64_t size : operand.shape.span())
    elements *= size;
  return (elements * size_of(operand.dtype) + 63) / 64 * 64;
}

TensorView place(const Operand& operand, const ConvProblem& problem, void* memory) {
  const Layout layout = operand.shape.rank > 1 ? problem.layout : Layout::kNchw;
  return packed(memory, operand.dtype, operand.shape.span(), layout);
}

Status fill_normal(const TensorView& view, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(static_cast<size_t>(view.elements()));
  for (float& v : values)
    v = normal(random);
  const std::span<const int64_t> sizes(view.sizes.data(), static_cast<size_t>(view.rank));
  return copy(packed(values.data(), DType::kF32, sizes), view);
}

void fill_nan(void* memory, int64_t bytes) {
  std::memset(memory, 0xff, static_cast<size_t>(bytes));
}

}  // namespace convoy::bench
