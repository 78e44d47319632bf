// One op of the manifest against the C++ functions of the problem.
#include "manifest/check_op.h"

#include <convoy/problem.h>

#include "base/int_math.h"
#include "base/str.h"
#include "manifest/formula.h"
#include "manifest/lattice.h"
#include "manifest/letters.h"

namespace convoy::manifest {
namespace {

// The loop nest is walked for every eighth problem of the lattice, up to this many products.
constexpr size_t kCountEvery = 8;
constexpr int64_t kMaxProducts = 30000;

class OpCheck {
 public:
  OpCheck(const Op& op, const FaultSink& sink) : op_(op), sink_(sink) {
    for (const Located& rule : op.rules)
      rules_.push_back(formula("rules", rule));
    flops_ = formula("flops", op.flops);
    bytes_ = formula("bytes", op.bytes);
    read_shape();
    read_operands();
  }

  void check_lattice() {
    size_t index = 0;
    for (ConvProblem p : lattice(op_.rank, op_.pass)) {
      if (!op_.dtypes.empty()) p.dtype = op_.dtypes[index % op_.dtypes.size()];
      if (p.pass != Pass::kDgrad) p.bias = static_cast<BiasType>(index % 3);
      const bool count = index % kCountEvery == 0 && p.N > 0;  // an empty batch visits no weight
      ++index;
      const Status legal = validate(p);
      check_rules(p, legal);
      if (!legal.ok()) continue;
      const Letters letters = all_letters(p);
      check_extents(p, letters);
      check_cost(p, letters, {flops(p), bytes(p)}, "the C++ function");
      const auto products = checked_product(p.N, p.K, out_extent(p, 0), out_extent(p, 1),
                                            out_extent(p, 2), gemm_k(p));
      if (count && products && *products <= kMaxProducts) {
        check_cost(p, letters, count_loop_nest(p), "counting the loop nest");
      }
    }
  }

  void check_workload(const ConvProblem& p) {
    check_rules(p, {});
    const Letters letters = all_letters(p);
    check_extents(p, letters);
    check_cost(p, letters, {flops(p), bytes(p)}, "the C++ function");
  }

  void check_defaults() const {
    std::string bare = str("conv", op_.rank, "d ", name(op_.pass), " f32 n1 c1 k1");
    for (const char* axis : {"d1 t1", "h1 r1", "w1 s1"}) {
      if (axis[0] == 'd' ? op_.rank < 3 : axis[0] == 'h' && op_.rank < 2) continue;
      bare += str(" ", axis);
    }
    const Result<ConvProblem> open = parse_problem(bare);
    for (const char* token : {"g", "stride", "pad", "dil"}) {
      bool found = false;
      for (const auto& [key, value] : op_.params) {
        if (key != token) continue;
        found = true;
        const Result<ConvProblem> written = parse_problem(str(bare, " ", key, value.text));
        if (open && written && *open == *written) continue;
        fault(value.line, str("params ", key, "=", value.text,
                              " is not the default of the text form; correct it"));
      }
      if (!found) fault(op_.line, str("params lack '", token, "'; add it with its default"));
    }
    for (const auto& [key, value] : op_.params) {
      if (key == "g" || key == "stride" || key == "pad" || key == "dil") continue;
      fault(value.line, str("unknown key '", key, "' in params; use g stride pad dil"));
    }
    if (open && !op_.layouts.empty() && op_.layouts[0] != open->layout) {
      fault(op_.line, str("layouts must begin with the default ", name(open->layout)));
    }
  }

  // What the op lists is what validate() takes, no more and no less.
  void check_options() const {
    ConvProblem p{.rank = op_.rank, .pass = op_.pass};
    const auto compare = [&](const char* key, const char* option, bool listed) {
      if (validate(p).ok() == listed) return;
      fault(op_.line, str(key, " '", option,
                          listed ? "' is listed but the code refuses it"
                                 : "' is taken by the code but not listed",
                          "; correct the list"));
    };
    const auto lists = [](const auto& set, auto value) {
      return std::find(set.begin(), set.end(), value) != set.end();
    };
    for (int i = 0; i <= static_cast<int>(BiasType::kF32); ++i) {
      p.bias = static_cast<BiasType>(i);
      compare("bias", name(p.bias), lists(op_.biases, p.bias));
    }
    p.bias = BiasType::kNone;
    for (int i = 0; i <= static_cast<int>(Activation::kHardswish); ++i) {
      p.activation = static_cast<Activation>(i);
      compare("activation", name(p.activation), lists(op_.activations, p.activation));
    }
  }

 private:
  // A formula that was found wrong stays silent afterwards.
  struct Check {
    std::string what;
    int line = 0;
    std::optional<Formula> formula;
    int axis = 0;  // of the shape that it computes
  };
  struct Operand {
    Shape (*shape)(const ConvProblem&);
    std::vector<Check> axes;
  };

  void fault(int line, const std::string& message) const {
    sink_.add(line, str("op ", op_.name, ": ", message));
  }

  Check formula(std::string what, const Located& at, int axis = 0) const {
    Check check{.what = std::move(what), .line = at.line, .axis = axis};
    if (at.text.empty()) return check;
    Result<Formula> parsed = Formula::parse(at.text);
    if (parsed) {
      check.formula = *std::move(parsed);
    } else {
      fault(at.line, str(check.what, ": ", parsed.status().message()));
    }
    return check;
  }

  // Nothing for a formula already at fault; an evaluation error is a fault.
  std::optional<int64_t> value(Check& check, const ConvProblem& p, const Letters& letters) const {
    if (!check.formula) return std::nullopt;
    const Result<int64_t> value = check.formula->evaluate(letters);
    if (value) return *value;
    fault(check.line, str(check.what, ": ", value.status().message(), " (for ", to_text(p), ")"));
    check.formula.reset();
    return std::nullopt;
  }

  void compare(Check& check, const ConvProblem& p, const Letters& letters, int64_t expected,
               std::string_view judge) const {
    const std::optional<int64_t> got = value(check, p, letters);
    if (!got || *got == expected) return;
    fault(check.line, str(check.what, " gives ", *got, ", ", judge, " gives ", expected, " for ",
                          to_text(p), "; correct the formula"));
    check.formula.reset();
  }

  void read_shape() {
    constexpr const char* kOut[] = {"Z", "P", "Q"};
    for (int d = 3 - op_.rank; d < 3; ++d) {
      const auto found = std::find_if(op_.shape.begin(), op_.shape.end(),
                                      [&](const auto& s) { return s.first == kOut[d]; });
      if (found == op_.shape.end()) {
        fault(op_.line, str("shape lacks ", kOut[d], "; add its formula"));
      } else {
        shape_.push_back(formula(str("shape ", kOut[d]), found->second, d));
      }
    }
    for (const auto& [key, at] : op_.shape) {
      const bool known = key == "Q" || (key == "P" && op_.rank > 1) || (key == "Z" && op_.rank > 2);
      if (!known) fault(at.line, str("unknown key '", key, "' in shape; use the outputs Z P Q"));
    }
  }

  void read_operands() {
    struct Known {
      const char* name;
      Shape (*shape)(const ConvProblem&);
    };
    const std::vector<Known> known =
        op_.pass == Pass::kFprop ? std::vector<Known>{{"x", x_shape},
                                                      {"w", w_shape},
                                                      {"bias", bias_shape},
                                                      {"y", y_shape}}
        : op_.pass == Pass::kDgrad
            ? std::vector<Known>{{"dy", y_shape}, {"w", w_shape}, {"dx", x_shape}}
            : std::vector<Known>{
                  {"x", x_shape}, {"dy", y_shape}, {"dw", w_shape}, {"db", bias_shape}};
    for (const Op::Operand& operand : op_.operands) {
      const auto found = std::find_if(known.begin(), known.end(),
                                      [&](const Known& k) { return operand.name == k.name; });
      if (found == known.end()) {
        fault(operand.line, str("operand '", operand.name, "' has no part in ", name(op_.pass)));
        continue;
      }
      Operand& out = operands_.emplace_back(Operand{.shape = found->shape});
      for (const Located& axis : operand.shape)
        out.axes.push_back(formula(str("operand ", operand.name, " axis ", out.axes.size()), axis));
      const int rank = found->shape(ConvProblem{.rank = op_.rank}).rank;
      if (static_cast<int>(out.axes.size()) == rank) continue;
      fault(operand.line, str("operand ", operand.name, " has ", out.axes.size(),
                              " axes, the code gives it ", rank, "; list one formula per axis"));
      operands_.pop_back();
    }
    for (const Known& k : known) {
      const bool listed = std::any_of(op_.operands.begin(), op_.operands.end(),
                                      [&](const auto& o) { return o.name == k.name; });
      if (!listed) fault(op_.line, str("operand '", k.name, "' is missing; add it"));
    }
  }

  void check_rules(const ConvProblem& p, const Status& legal) {
    const Letters letters = stated_letters(p);
    for (Check& rule : rules_) {
      const std::optional<int64_t> holds = value(rule, p, letters);
      if (!holds) return;  // this rule no longer judges, so the rest would not either
      if (*holds != 0) continue;
      if (!legal.ok()) return;
      fault(rule.line, str("rule refuses what the code takes: ", to_text(p), "; correct the rule"));
      rule.formula.reset();
      return;
    }
    if (legal.ok() || rules_.empty() || rules_at_fault_) return;
    rules_at_fault_ = true;
    fault(rules_.front().line,
          str("rules take what the code refuses: ", legal.message(), "; add the rule"));
  }

  void check_extents(const ConvProblem& p, const Letters& letters) {
    for (Check& check : shape_)
      compare(check, p, letters, out_extent(p, check.axis), "the C++ shape function");
    for (Operand& operand : operands_) {
      const Shape shape = operand.shape(p);
      for (size_t i = 0; i < operand.axes.size(); ++i)
        compare(operand.axes[i], p, letters, shape.sizes[i], "the C++ shape function");
    }
  }

  void check_cost(const ConvProblem& p, const Letters& letters, const Count& count,
                  std::string_view judge) {
    compare(flops_, p, letters, count.flops, judge);
    compare(bytes_, p, letters, count.bytes, judge);
  }

  const Op& op_;
  const FaultSink& sink_;
  std::vector<Check> rules_, shape_;
  std::vector<Operand> operands_;
  Check flops_, bytes_;
  bool rules_at_fault_ = false;
};

}  // namespace

void check_op(const Op& op, std::span<const WorkloadRow> workloads, const FaultSink& sink) {
  OpCheck check(op, sink);
  check.check_defaults();
  check.check_options();
  check.check_lattice();
  for (const WorkloadRow& row : workloads) {
    if (!row.parsed || row.parsed->rank != op.rank || row.parsed->pass != op.pass) continue;
    check.check_workload(*row.parsed);
  }
}

}  // namespace convoy::manifest
