// One exact integer case: operands between guard bands, and the values that a run must give.
#pragma once

#include <convoy/convoy.h>

#include <cstdint>
#include <string>
#include <vector>

#include "bench/operands.h"

namespace convoy::bench {

// value i of fill(s, m): integers from -m to m, the same on every machine.
int fill_value(uint32_t s, uint32_t m, uint32_t i);

// Sum, sum weighted by (i mod 13) + 1, largest magnitude: over values in logical row-major order.
struct Triple {
  int64_t sum = 0, weighted = 0, largest = 0;
  bool operator==(const Triple&) const = default;
};
Triple triple_of(const std::vector<float>& values);

struct CaseText {
  const char* problem;  // an fprop f32 nchw text; see variant_of()
  bool field_case_f20;  // its values are known beside the reference's
};
std::span<const CaseText> case_texts();

// The case in a pass, dtype and layout: bias and activation where the pass has them, and every
// wgrad asks for db.
ConvProblem variant_of(const CaseText& text, Pass pass, DType dtype, Layout layout);

class ExactCase {
 public:
  // Makes the operands in host memory and asks the reference kernel, by name, what to expect.
  static Result<ExactCase> make(const CaseText& text, const ConvProblem& problem,
                                const Device& device);

  // Runs `plan` over NaN outputs, with weights packed ahead where `pack_ahead` is set. Gives what
  // was wrong, or nothing.
  Result<std::string> fault(const Plan& plan, const Device& device, bool pack_ahead);
  const TensorView& weights() const { return args_.w; }

 private:
  // Of one operand: its place in host memory, guard bands included, and on the device of the plan.
  struct Place {
    Operand operand;
    std::byte* memory;
    size_t bytes;
    Buffer on_device;
  };
  struct Output {
    Operand operand;
    std::byte* memory;
    std::vector<float> expected;
  };
  Status run(const Plan& plan, const Device& device, bool pack_ahead);
  // Through memory of a device other than the CPU.
  Status run_there(const Plan& plan, const Device& device);
  std::string compare(const Output& output) const;

  ConvProblem problem_;
  bool f20_ = false;
  std::vector<Buffer> buffers_;
  std::vector<Place> places_;
  RunArgs args_;
  std::vector<Output> outputs_;
};

}  // namespace convoy::bench
