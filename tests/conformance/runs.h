// One plan run on guarded, poisoned storage, with any form per operand.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "support/oracle.h"
#include "support/storage.h"

namespace convoy::test {

// By tensor name; absent: packed in the layout of the problem.
using Forms = std::map<std::string, Form>;

// The storage of every operand that the pass of a problem takes and gives.
class Operands {
 public:
  Operands(const ConvProblem& p, const Values& values, const Forms& forms);

  RunArgs args() const;
  // y, dx or dw
  const Storage& result() const;
  const Storage& at(const std::string& name) const { return storage_.at(name); }
  const std::map<std::string, Storage>& all() const { return storage_; }
  // What the inputs hold after rounding and after stride 0 merged elements.
  Values rounded() const;
  // Empty, or which tensor has damage beside its view.
  std::string damage() const;

 private:
  Pass pass_;
  std::map<std::string, Storage> storage_;
};

const char* result_name(Pass pass);
Shape shape_of(const ConvProblem& p, const std::string& tensor);
// The same problem for another pass, without what that pass has no part in.
ConvProblem for_pass(ConvProblem p, Pass pass);
// Roster rows that accept `p` on `device`; reference rows come last.
std::vector<std::string> accepting(const ConvProblem& p, const Device& device);
bool is_reference(const std::string& kernel);

}  // namespace convoy::test
