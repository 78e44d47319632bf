// The field cases: small exact inputs and outcomes, drawn from what users of convolutions reported.
#pragma once

#include <convoy/convoy.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "conformance/runs.h"
#include "support/oracle.h"

namespace convoy::test {

struct FieldCase {
  std::string id;
  ConvProblem problem;  // fprop, nchw, first dtype
  std::vector<DType> dtypes;
  std::vector<Layout> layouts;
  Values values;
  nlohmann::json expect;  // by tensor: y dx dw db
  nlohmann::json views;   // other ways to store the same values
};

// CONVOY_FIELD_CASES_FILE, or the file where it lay when this was built.
const nlohmann::json& field_case_file();
std::vector<FieldCase> field_cases();

// The flat tensor that the file describes by fill, values, const and except, or runs.
std::vector<double> tensor_of(const nlohmann::json& json, int64_t count);

// Empty, or how `got` breaks one of the forms that the file expects of a tensor.
std::string fault_against(const nlohmann::json& expect, const std::vector<double>& got,
                          const Shape& shape);

// Every dtype, layout and pass of a case.
std::vector<ConvProblem> problems_of(const FieldCase& c);
// Variants of storage: what the file lists, each alone and then together, and our own.
std::vector<Forms> forms_of(const FieldCase& c, const ConvProblem& p);
// Empty, or how the operands after a run of `p` break what the case expects.
std::string case_fault(const FieldCase& c, const ConvProblem& p, const Operands& operands);

// Whether an error message has the word, the number or the shape, by the rule of the file.
bool mentions(std::string message, std::string what);

}  // namespace convoy::test
