// Operands of one run and the rows that accept a problem.
#include "conformance/runs.h"

#include "kernel/kernel.h"

namespace convoy::test {
namespace {

std::vector<std::string> inputs_of(const ConvProblem& p) {
  if (p.pass == Pass::kDgrad) return {"dy", "w"};
  if (p.pass == Pass::kWgrad) return {"x", "dy"};
  if (p.bias == BiasType::kNone) return {"x", "w"};
  return {"x", "w", "bias"};
}

std::vector<std::string> outputs_of(const ConvProblem& p) {
  if (p.pass == Pass::kWgrad) return {"dw", "db"};
  return {result_name(p.pass)};
}

}  // namespace

const char* result_name(Pass pass) {
  return pass == Pass::kFprop ? "y" : pass == Pass::kDgrad ? "dx" : "dw";
}

Shape shape_of(const ConvProblem& p, const std::string& tensor) {
  if (tensor == "x" || tensor == "dx") return x_shape(p);
  if (tensor == "w" || tensor == "dw") return w_shape(p);
  if (tensor == "y" || tensor == "dy") return y_shape(p);
  return bias_shape(p);
}

ConvProblem for_pass(ConvProblem p, Pass pass) {
  p.pass = pass;
  if (pass == Pass::kDgrad) p.bias = BiasType::kNone;
  if (pass != Pass::kFprop) p.activation = Activation::kNone;
  return p;
}

Operands::Operands(const ConvProblem& p, const Values& values, const Forms& forms) : pass_(p.pass) {
  const auto add = [&](const std::string& name) -> Storage& {
    const Shape shape = shape_of(p, name);
    const bool channels = name == "bias" || name == "db";
    const auto form = forms.find(name);
    const DType dtype = channels ? bias_dtype(p) : p.dtype;
    const Form used = form == forms.end() ? packed_form(shape, p.layout) : form->second;
    return storage_.emplace(name, Storage(dtype, shape, used)).first->second;
  };
  const std::map<std::string, const std::vector<double>*> source = {
      {"x", &values.x}, {"w", &values.w}, {"bias", &values.bias}, {"dy", &values.dy}};
  for (const std::string& name : inputs_of(p))
    add(name).set(*source.at(name));
  for (const std::string& name : outputs_of(p))
    add(name);
}

RunArgs Operands::args() const {
  const auto view = [&](const char* name) {
    const auto found = storage_.find(name);
    return found == storage_.end() ? TensorView{} : found->second.view();
  };
  return {.x = view("x"),
          .w = view("w"),
          .bias = view("bias"),
          .y = view("y"),
          .dy = view("dy"),
          .dx = view("dx"),
          .dw = view("dw"),
          .db = view("db")};
}

const Storage& Operands::result() const {
  return storage_.at(result_name(pass_));
}

Values Operands::rounded() const {
  const auto get = [&](const char* name) {
    const auto found = storage_.find(name);
    return found == storage_.end() ? std::vector<double>() : found->second.values();
  };
  return {get("x"), get("w"), get("bias"), get("dy")};
}

std::string Operands::damage() const {
  for (const auto& [name, storage] : storage_) {
    if (const std::string fault = storage.damage(); !fault.empty()) return name + ": " + fault;
  }
  return "";
}

std::vector<std::string> accepting(const ConvProblem& p, const Device& device) {
  std::vector<std::string> names, references;
  const Result<Plan> chosen = plan(p, device);
  if (!chosen) return names;
  for (const Candidate& c : chosen->explain().candidates) {
    if (c.verdict == Verdict::kDeclined) continue;
    (is_reference(c.kernel) ? references : names).push_back(c.kernel);
  }
  names.insert(names.end(), references.begin(), references.end());
  return names;
}

bool is_reference(const std::string& kernel) {
  for (const RosterRow& row : roster()) {
    if (kernel == row.name) return row.reference;
  }
  return false;
}

}  // namespace convoy::test
