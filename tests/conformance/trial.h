// One random run: what is asked, on which data, how it runs, and whether the answer is right.
#pragma once

#include <convoy/convoy.h>

#include <functional>
#include <string>
#include <vector>

#include "conformance/runs.h"
#include "support/random.h"

namespace convoy::test {

enum class Data {
  kIntegers,    // sums exact in f32: compared bit for bit
  kReals,       // within the bound of contract section 2
  kSubnormals,  // integers times the smallest numbers of the dtype: exact, and never flushed
};

// The data and the forms follow from the seed.
struct Question {
  ConvProblem problem;
  uint64_t seed = 0;
  Data data = Data::kIntegers;
  bool non_finite = false;  // a few Inf and NaN in the inputs
  bool any_form = false;    // random strided views; else all packed in the layout
};

struct Manner {
  Isa tier = Isa::kBaseline;
  int threads = 1;
  std::string kernel;  // empty: the plan's own choice
  bool packed = false;
  bool workspace = true;
  bool deterministic = false;
  bool library_check = false;  // convoy::check must agree
};

struct Outcome {
  std::string fault;    // empty: right
  std::string kernel;   // what the plan chose
  bool ran_it = false;  // the chosen kernel itself served the call, not its fallback
};

Question random_question(Random& random, Isa tier);
// Random data and forms for a problem.
Question question_of(Random& random, const ConvProblem& problem, Isa tier);
Manner random_manner(Random& random, Isa tier);

// The inputs of a question and the results they must give.
class Answer {
 public:
  explicit Answer(const Question& question);
  Outcome judge(const Manner& manner) const;
  // Empty, or what is wrong with what `compute` makes of the operands.
  std::string fault_after(const std::function<void(const RunArgs&)>& compute) const;
  // The same of a run that may fail and that needs the whole storage.
  std::string fault_of_run(const std::function<Status(const Operands&)>& run) const;

 private:
  std::string fault_of(const Operands& operands) const;

  Question question_;
  Forms forms_;
  Values values_;
  std::vector<Sum> result_, db_;
};

// The smallest question by halving extents and dropping options that still fails, and its report:
// text, kernel, tier, seed and the first bad element.
std::string report_shrunk(Question question, const Manner& manner);

}  // namespace convoy::test
