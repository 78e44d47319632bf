// Parses and evaluates formulas of the manifest without overflow and without recursion bombs.
#include "manifest/formula.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "base/str.h"

namespace convoy::manifest {
namespace {

// Bounds the recursion of parser and evaluator.
constexpr size_t kMaxText = 2000;
constexpr int kMaxNesting = 64;

constexpr std::string_view kNameChars =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";

}  // namespace

class FormulaParser {
 public:
  explicit FormulaParser(std::string_view text) : rest_(text) {
    formula_.text_ = std::string(text);
  }

  Result<Formula> parse() {
    if (rest_.size() > kMaxText) {
      return invalid(str("formula has ", rest_.size(), " characters, at most ", kMaxText,
                         " are read; shorten it"));
    }
    next();
    formula_.root_ = either();
    if (!failed_ && !token_.empty()) fail("an operator");
    if (failed_) return error_;
    return std::move(formula_);
  }

 private:
  using Op = Formula::Op;

  void next() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(" \n\t"), rest_.size()));
    size_t length = std::min(rest_.find_first_not_of(kNameChars), rest_.size());
    if (length == 0 && !rest_.empty()) {
      const std::string_view two = rest_.substr(0, 2);
      length = two == "==" || two == "!=" || two == "<=" || two == ">=" ? 2 : 1;
    }
    token_ = rest_.substr(0, length);
    rest_.remove_prefix(length);
  }

  bool take(std::string_view token) {
    if (failed_ || token_ != token) return false;
    next();
    return true;
  }

  int fail(std::string_view expected) {
    if (!failed_) {
      error_ = invalid(str("formula '", formula_.text_, "': ", expected, " expected before ",
                           token_.empty() ? "the end" : str("'", token_, "'"), "; correct it"));
    }
    failed_ = true;
    return -1;
  }

  int add(Formula::Node node) {
    formula_.nodes_.push_back(std::move(node));
    return static_cast<int>(formula_.nodes_.size()) - 1;
  }

  using Rule = int (FormulaParser::*)();
  // rule { operator rule }, grouped from the left.
  int chain(Rule rule, std::initializer_list<std::pair<std::string_view, Op>> operators) {
    int left = (this->*rule)();
    while (!failed_) {
      const std::string_view token = token_;
      const auto* found = std::find_if(operators.begin(), operators.end(),
                                       [&](const auto& o) { return o.first == token; });
      if (found == operators.end()) break;
      next();
      const int right = (this->*rule)();
      left = add({.op = found->second, .left = left, .right = right});
    }
    return left;
  }

  int either() { return chain(&FormulaParser::both, {{"or", Op::kOr}}); }
  int both() { return chain(&FormulaParser::comparison, {{"and", Op::kAnd}}); }
  int comparison() {
    constexpr std::pair<std::string_view, Op> kComparisons[] = {
        {"==", Op::kEqual},     {"!=", Op::kUnequal}, {"<", Op::kLess},
        {"<=", Op::kLessEqual}, {">", Op::kGreater},  {">=", Op::kGreaterEqual}};
    const int left = sum();
    for (const auto& [token, op] : kComparisons) {
      if (!take(token)) continue;
      const int right = sum();
      return add({.op = op, .left = left, .right = right});
    }
    return left;
  }
  int sum() { return chain(&FormulaParser::product, {{"+", Op::kAdd}, {"-", Op::kSubtract}}); }
  int product() { return chain(&FormulaParser::unary, {{"*", Op::kMultiply}}); }

  int unary() {
    if (++nesting_ > kMaxNesting) return fail(str("nesting of at most ", kMaxNesting));
    const int node = take("-") ? add({.op = Op::kNegate, .left = unary()}) : primary();
    --nesting_;
    return node;
  }

  int primary() {
    if (take("(")) {
      const int inner = either();
      return take(")") ? inner : fail("')'");
    }
    if (failed_ || token_.empty() || kNameChars.find(token_[0]) == std::string_view::npos) {
      return fail("a number, a letter or '('");
    }
    if (token_[0] >= '0' && token_[0] <= '9') return number();
    for (const auto& [function, op] :
         {std::pair{"ceil_div", Op::kCeilDiv}, std::pair{"floor_div", Op::kFloorDiv},
          std::pair{"min", Op::kMin}, std::pair{"max", Op::kMax}}) {
      if (take(function)) return call(op);
    }
    if (token_ == "and" || token_ == "or") return fail("a value");
    const std::string letter(token_);
    next();
    return add({.op = Op::kName, .name = letter});
  }

  int number() {
    int64_t value = 0;
    const auto [end, error] = std::from_chars(token_.data(), token_.data() + token_.size(), value);
    if (error != std::errc() || end != token_.data() + token_.size()) {
      return fail("an integer below 2^63");
    }
    next();
    return add({.op = Op::kNumber, .number = value});
  }

  // Divisions take two arguments, min and max two or more.
  int call(Op op) {
    if (!take("(")) return fail("'('");
    int left = either();
    int arguments = 1;
    while (take(",")) {
      const int right = either();
      left = add({.op = op, .left = left, .right = right});
      ++arguments;
    }
    const bool division = op == Op::kCeilDiv || op == Op::kFloorDiv;
    if (!failed_ && (arguments < 2 || (division && arguments > 2))) {
      return fail(division ? "two arguments" : "two or more arguments");
    }
    return take(")") ? left : fail("')'");
  }

  Formula formula_;
  std::string_view rest_, token_;
  Status error_;
  bool failed_ = false;
  int nesting_ = 0;
};

Result<Formula> Formula::parse(std::string_view text) {
  return FormulaParser(text).parse();
}

Result<int64_t> Formula::evaluate(const Letters& letters) const {
  for (const Node& node : nodes_) {
    if (node.op == Op::kName && letters.find(node.name) == letters.end()) {
      return invalid(str("formula '", text_, "': unknown letter '", node.name,
                         "'; use the letters of this rank and pass"));
    }
  }
  return value(root_, letters);
}

Result<int64_t> Formula::value(int index, const Letters& letters) const {
  const Node& node = nodes_[index];
  if (node.op == Op::kNumber) return node.number;
  if (node.op == Op::kName) return letters.find(node.name)->second;
  const Result<int64_t> a = value(node.left, letters);
  if (!a) return a.status();
  if (node.op == Op::kAnd && *a == 0) return 0;
  if (node.op == Op::kOr && *a != 0) return 1;
  if (node.op == Op::kNegate) return apply({.op = Op::kSubtract}, 0, *a);
  const Result<int64_t> b = value(node.right, letters);
  if (!b) return b.status();
  return apply(node, *a, *b);
}

Result<int64_t> Formula::apply(const Node& node, int64_t a, int64_t b) const {
  int64_t out = 0;
  bool overflow = false;
  switch (node.op) {
    case Op::kAdd:
      overflow = __builtin_add_overflow(a, b, &out);
      break;
    case Op::kSubtract:
      overflow = __builtin_sub_overflow(a, b, &out);
      break;
    case Op::kMultiply:
      overflow = __builtin_mul_overflow(a, b, &out);
      break;
    case Op::kCeilDiv:
    case Op::kFloorDiv:
      if (b < 1) return invalid(str("formula '", text_, "': divisor ", b, " must be 1 or more"));
      out = a / b;
      if (node.op == Op::kCeilDiv && a % b > 0) ++out;
      if (node.op == Op::kFloorDiv && a % b < 0) --out;
      break;
    case Op::kMin:
      out = std::min(a, b);
      break;
    case Op::kMax:
      out = std::max(a, b);
      break;
    case Op::kEqual:
      out = a == b;
      break;
    case Op::kUnequal:
      out = a != b;
      break;
    case Op::kLess:
      out = a < b;
      break;
    case Op::kLessEqual:
      out = a <= b;
      break;
    case Op::kGreater:
      out = a > b;
      break;
    case Op::kGreaterEqual:
      out = a >= b;
      break;
    default:
      out = b != 0;
      break;  // the right side of and, or decides
  }
  if (overflow) return invalid(str("formula '", text_, "': a value exceeds 2^63 - 1; use less"));
  return out;
}

}  // namespace convoy::manifest
