// A formula of the manifest: integers, letters, + - * ( ), ceil_div floor_div min max, comparisons,
// and, or.
#pragma once

#include <convoy/status.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace convoy::manifest {

using Letters = std::map<std::string, int64_t, std::less<>>;

// Parsed once, evaluated at many points. Comparisons give 0 or 1; `and` and `or` stop early.
class Formula {
 public:
  static Result<Formula> parse(std::string_view text);

  // kInvalid on a name outside `letters` (even in a part that is skipped), a divisor below 1 and
  // on overflow.
  Result<int64_t> evaluate(const Letters& letters) const;

 private:
  friend class FormulaParser;
  enum class Op {
    kNumber,
    kName,
    kNegate,
    kAdd,
    kSubtract,
    kMultiply,
    kCeilDiv,
    kFloorDiv,
    kMin,
    kMax,
    kEqual,
    kUnequal,
    kLess,
    kLessEqual,
    kGreater,
    kGreaterEqual,
    kAnd,
    kOr
  };
  struct Node {
    Op op;
    int64_t number = 0;
    std::string name;
    int left = -1, right = -1;  // indices into nodes_
  };

  Result<int64_t> value(int node, const Letters& letters) const;
  Result<int64_t> apply(const Node& node, int64_t a, int64_t b) const;

  std::string text_;
  std::vector<Node> nodes_;
  int root_ = -1;
};

}  // namespace convoy::manifest
