// Draws data, runs plans and judges them.
#include "conformance/trial.h"

#include <cmath>

#include "base/str.h"
#include "support/devices.h"
#include "support/forms.h"
#include "support/problems.h"

namespace convoy::test {
namespace {

// The step of the numbers that must not be flushed: subnormal in the dtype, or in tf32's range.
double subnormal_step(DType dtype) {
  if (dtype == DType::kF16) return 0x1p-24;
  if (dtype == DType::kBf16) return 0x1p-133;
  return dtype == DType::kTf32 ? 0x1p-130 : 0x1p-140;
}

std::vector<double> draw(Random& r, const Shape& shape, Data data, int64_t m, double step) {
  int64_t count = 1;
  for (const int64_t size : shape.span())
    count *= size;
  std::vector<double> out(static_cast<size_t>(count));
  for (double& v : out) {
    v = data == Data::kReals ? 2 * r.unit() - 1 : static_cast<double>(r.between(-m, m)) * step;
  }
  return out;
}

void poison_some(Random& r, std::vector<double>& values) {
  if (values.empty()) return;
  for (int64_t i = r.between(1, 3); i-- > 0;) {
    values[static_cast<size_t>(r.between(0, static_cast<int64_t>(values.size()) - 1))] =
        r.pick({HUGE_VAL, -HUGE_VAL, std::nan("")});
  }
}

Values draw_values(const Question& q) {
  Random r(q.seed);
  const ConvProblem& p = q.problem;
  const double tiny = q.data == Data::kSubnormals ? subnormal_step(p.dtype) : 1;
  // One operand of each product carries the step.
  const double x_step = p.pass == Pass::kDgrad ? 1 : tiny,
               dy_step = p.pass == Pass::kDgrad ? tiny : 1;
  Values v{draw(r, x_shape(p), q.data, 5, x_step), draw(r, w_shape(p), q.data, 3, 1),
           draw(r, bias_shape(p), q.data, 2, tiny), draw(r, y_shape(p), q.data, 2, dy_step)};
  if (!q.non_finite) return v;
  const bool first = r.chance(0.5);
  if (p.pass == Pass::kFprop) poison_some(r, first ? v.x : v.w);
  if (p.pass == Pass::kDgrad) poison_some(r, first ? v.dy : v.w);
  if (p.pass == Pass::kWgrad) poison_some(r, first ? v.x : v.dy);
  return v;
}

Forms draw_forms(const Question& q) {
  Forms forms;
  if (!q.any_form) return forms;
  Random r(q.seed + 1);
  const ConvProblem& p = q.problem;
  for (const char* input : {"x", "w", "bias", "dy"})
    forms[input] = random_form(r, shape_of(p, input), p.layout, true);
  for (const char* output : {"y", "dx", "dw", "db"})
    forms[output] = random_form(r, shape_of(p, output), p.layout, false);
  return forms;
}

bool unit_inner(const TensorView& v, Layout layout) {
  const int axis = layout == Layout::kNhwc ? 1 : v.rank - 1;
  return v.strides[axis] == 1 || v.sizes[axis] == 1;
}

bool exact_activation(Activation a) {
  return a == Activation::kNone || a == Activation::kRelu || a == Activation::kRelu6;
}

// 64-byte aligned scratch whose end is watched.
class Workspace {
 public:
  explicit Workspace(size_t bytes) : bytes_(bytes), memory_(bytes + 2 * kAlign, kMark) {}
  void* data() {
    return memory_.data() + kAlign - reinterpret_cast<uintptr_t>(memory_.data()) % kAlign;
  }
  bool overrun() {
    const auto* end = static_cast<unsigned char*>(data()) + bytes_;
    for (const unsigned char* at = end; at < memory_.data() + memory_.size(); ++at) {
      if (*at != kMark) return true;
    }
    return false;
  }

 private:
  static constexpr size_t kAlign = 64;
  static constexpr unsigned char kMark = 0xa5;
  size_t bytes_;
  std::vector<unsigned char> memory_;
};

}  // namespace

Question random_question(Random& r, Isa tier) {
  const ConvProblem problem = random_problem(r);
  return question_of(r, problem, tier);
}

Question question_of(Random& r, const ConvProblem& p, Isa tier) {
  Question q{.problem = p, .seed = r.next()};
  q.data = r.chance(0.5) ? Data::kReals : Data::kIntegers;
  // vdpbf16ps flushes subnormals, which its kernels' rows say.
  const bool flushes = p.dtype == DType::kBf16 && tier == Isa::kAvx512Bf16;
  const bool linear = p.activation == Activation::kNone || p.activation == Activation::kRelu;
  if (linear && !flushes && r.chance(0.05)) q.data = Data::kSubnormals;
  q.non_finite = r.chance(0.2);
  q.any_form = r.chance(0.4);
  return q;
}

Manner random_manner(Random& r, Isa tier) {
  return {.tier = tier,
          .threads = static_cast<int>(r.between(1, 2)),
          .packed = r.chance(0.3),
          .workspace = r.chance(0.8),
          .deterministic = r.chance(0.15),
          .library_check = r.chance(0.1)};
}

Answer::Answer(const Question& question)
    : question_(question), forms_(draw_forms(question)), values_(draw_values(question)) {
  const Values inputs = Operands(question.problem, values_, forms_).rounded();
  result_ = expected_result(question.problem, inputs);
  if (question.problem.pass == Pass::kWgrad) db_ = expected_db(question.problem, inputs);
}

std::string Answer::fault_of(const Operands& operands) const {
  const ConvProblem& p = question_.problem;
  const int64_t products = products_of(p);
  const bool exact = question_.data != Data::kReals && exact_activation(p.activation) &&
                     15 * products + 2 < int64_t{1} << 24;
  const Judge judge = exact ? Judge::kExact : Judge::kBound;
  std::string fault = first_fault(p, result_, operands.result(), judge, products);
  if (fault.empty() && p.pass == Pass::kWgrad) {
    fault = first_fault(p, db_, operands.at("db"), judge, products);
    if (!fault.empty()) fault = "db " + fault;
  }
  return fault.empty() ? operands.damage() : fault;
}

std::string Answer::fault_after(const std::function<void(const RunArgs&)>& compute) const {
  const Operands operands(question_.problem, values_, forms_);
  compute(operands.args());
  return fault_of(operands);
}

std::string Answer::fault_of_run(const std::function<Status(const Operands&)>& run) const {
  const Operands operands(question_.problem, values_, forms_);
  if (const Status s = run(operands); !s.ok()) return str(name(s.code()), ": ", s.message());
  return fault_of(operands);
}

Outcome Answer::judge(const Manner& m) const {
  const ConvProblem& p = question_.problem;
  const Device device = cpu_of(m.tier, m.threads);
  const Result<Plan> chosen =
      plan(p, device, {.kernel = m.kernel, .deterministic = m.deterministic});
  if (!chosen) return {.fault = chosen.status().message()};
  Outcome out{.kernel = chosen->kernel()};
  const Operands operands(p, values_, forms_);
  RunArgs args = operands.args();
  const bool walks =
      p.pass != Pass::kFprop || (unit_inner(args.x, p.layout) && unit_inner(args.y, p.layout));
  Workspace workspace(chosen->workspace_bytes());
  if (m.workspace) {
    args.workspace = workspace.data();
    args.workspace_bytes = chosen->workspace_bytes();
  }
  std::optional<PackedWeights> packed;
  if (m.packed && p.pass == Pass::kFprop) {
    if (Result<PackedWeights> w = chosen->pack_weights(args.w); w) packed = *std::move(w);
  }
  if (packed) args.packed = &*packed;
  if (packed && walks) args.w = {};
  if (const Status s = chosen->run(args); !s.ok()) out.fault = s.message();
  out.ran_it = walks && (m.workspace || packed || chosen->workspace_bytes() == 0);
  if (out.fault.empty()) out.fault = fault_of(operands);
  if (out.fault.empty() && workspace.overrun()) out.fault = "the workspace is overrun";
  if (out.fault.empty() && m.library_check) {
    const Result<CheckReport> report = check(p, operands.args(), device);
    if (!report || !report->ok) out.fault = "convoy::check disagrees";
  }
  return out;
}

namespace {

// Every question that is one step smaller.
std::vector<Question> smaller(const Question& q) {
  std::vector<Question> all;
  const auto change = [&](auto&& f) {
    Question next = q;
    f(next);
    const bool same =
        next.problem == q.problem && next.any_form == q.any_form && next.non_finite == q.non_finite;
    if (!same && validate(next.problem).ok()) all.push_back(next);
  };
  change([](Question& n) { n.problem.N = (n.problem.N + 1) / 2; });
  change([](Question& n) {
    ConvProblem& p = n.problem;
    const int64_t cpg = p.cpg(), kpg = p.kpg();
    p.G = (p.G + 1) / 2;
    p.C = p.G * cpg;
    p.K = p.G * kpg;
  });
  change([](Question& n) { n.problem.C = n.problem.G * ((n.problem.cpg() + 1) / 2); });
  change([](Question& n) { n.problem.K = n.problem.G * ((n.problem.kpg() + 1) / 2); });
  for (int d = q.problem.first_axis(); d < 3; ++d) {
    change([d](Question& n) { n.problem.in[d] = (n.problem.in[d] + 1) / 2; });
    change([d](Question& n) { n.problem.in[d] -= 1; });
    change([d](Question& n) { n.problem.filter[d] = (n.problem.filter[d] + 1) / 2; });
    change([d](Question& n) { n.problem.stride[d] = 1; });
    change([d](Question& n) { n.problem.dilation[d] = 1; });
    change([d](Question& n) { n.problem.pad_lo[d] /= 2; });
    change([d](Question& n) { n.problem.pad_hi[d] /= 2; });
  }
  change([](Question& n) { n.problem.bias = BiasType::kNone; });
  change([](Question& n) { n.problem.activation = Activation::kNone; });
  change([](Question& n) { n.any_form = false; });
  change([](Question& n) { n.non_finite = false; });
  return all;
}

}  // namespace

std::string report_shrunk(Question q, const Manner& m) {
  Outcome failed = Answer(q).judge(m);
  for (int step = 0; step < 60; ++step) {
    bool found = false;
    for (const Question& next : smaller(q)) {
      const Outcome outcome = Answer(next).judge(m);
      // A forced kernel that declines the smaller problem has not failed.
      if (outcome.fault.empty() || outcome.kernel.empty()) continue;
      q = next;
      failed = outcome;
      found = true;
      break;
    }
    if (!found) break;
  }
  constexpr const char* kData[] = {"integers", "reals", "subnormals"};
  return str("\n  ", to_text(q.problem), "\n  kernel ", failed.kernel,
             m.kernel.empty() ? " (chosen)" : "", ", tier ", name(m.tier), ", ", m.threads,
             " threads, seed ", q.seed, ", ", kData[static_cast<int>(q.data)],
             q.non_finite ? ", Inf and NaN" : "", q.any_form ? ", random views" : "",
             m.packed ? ", packed weights" : "", m.workspace ? "" : ", no workspace",
             m.deterministic ? ", deterministic" : "", "\n  ", failed.fault);
}

}  // namespace convoy::test
