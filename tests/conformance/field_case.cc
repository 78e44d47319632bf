// Reads field_cases.json and judges tensors against it.
#include "conformance/field_case.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <fstream>

#include "base/str.h"
#include "support/fill.h"
#include "support/forms.h"

namespace convoy::test {
namespace {

using nlohmann::json;

double number(const json& v) {
  if (!v.is_string()) return v.get<double>();
  const std::string text = v;
  if (text == "nan") return std::nan("");
  return text == "inf" ? HUGE_VAL : -HUGE_VAL;
}

std::vector<double> operand(const json& v, int64_t count) {
  return v.is_null() ? std::vector<double>() : tensor_of(v, count);
}

// Larger cases run in the forms that the file lists, which keeps the whole test in seconds.
constexpr int64_t kOwnForms = 1 << 18;

int64_t count_of(const Shape& shape) {
  int64_t count = 1;
  for (const int64_t size : shape.span())
    count *= size;
  return count;
}

bool same(double got, double want, double tolerance) {
  if (std::isnan(want)) return std::isnan(got);
  return got == want || std::abs(got - want) <= tolerance * std::abs(want);
}

std::string triple_fault(const json& expect, const std::vector<double>& got, double tolerance) {
  double sum = 0, weighted = 0, largest = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    sum += got[i];
    weighted += static_cast<double>(i % 13 + 1) * got[i];
    largest = std::max(largest, std::abs(got[i]));
  }
  for (const auto& [key, value] :
       {std::pair{"sum", sum}, {"weighted", weighted}, {"max", largest}}) {
    if (!expect.contains(key) || same(value, number(expect[key]), tolerance)) continue;
    return str(key, " is ", value, ", expected ", number(expect[key]));
  }
  return "";
}

}  // namespace

const json& field_case_file() {
  const char* elsewhere = std::getenv("CONVOY_FIELD_CASES_FILE");
  static const json file = json::parse(
      std::ifstream(elsewhere == nullptr ? CONVOY_FIELD_CASES : elsewhere), nullptr, false);
  return file;
}

std::vector<double> tensor_of(const json& t, int64_t count) {
  if (t.contains("fill"))
    return test::fill(t["fill"][0].get<uint32_t>(), t["fill"][1].get<uint32_t>(), count);
  std::vector<double> out;
  if (t.contains("values")) {
    for (const json& v : t["values"])
      out.push_back(number(v));
  }
  if (t.contains("runs")) {
    for (const json& run : t["runs"])
      out.insert(out.end(), run[0].get<size_t>(), number(run[1]));
  }
  if (t.contains("const")) out.assign(static_cast<size_t>(count), number(t["const"]));
  if (t.contains("except")) {
    for (const json& e : t["except"])
      out.at(e[0].get<size_t>()) = number(e[1]);
  }
  return out;
}

std::vector<FieldCase> field_cases() {
  std::vector<FieldCase> cases;
  for (const json& c : field_case_file()["cases"]) {
    FieldCase f{.id = c["id"], .expect = c["expect"], .views = c.value("views", json::array())};
    const Result<ConvProblem> p = parse_problem(c["problem"].get<std::string>());
    if (!p) return {};  // the test of the count then names no case
    f.problem = *p;
    for (const json& d : c["dtypes"])
      f.dtypes.push_back(*dtype_from_name(d.get<std::string>()));
    for (const json& l : c["layouts"])
      f.layouts.push_back(l == "nhwc" ? Layout::kNhwc : Layout::kNchw);
    f.values = {operand(c["x"], count_of(x_shape(*p))), operand(c["w"], count_of(w_shape(*p))),
                operand(c["bias"], p->K), operand(c["dy"], count_of(y_shape(*p)))};
    cases.push_back(std::move(f));
  }
  return cases;
}

std::string fault_against(const json& expect, const std::vector<double>& got, const Shape& shape) {
  const double tolerance = expect.value("rel_tol", 0.0);
  if (expect.contains("shape")) {
    const std::vector<int64_t> want = expect["shape"];
    const auto have = shape.span();
    if (!std::equal(want.begin(), want.end(), have.begin(), have.end())) {
      return str("shape is ", shape_text(have), ", expected ", shape_text(want));
    }
  }
  const bool listed =
      expect.contains("values") || expect.contains("const") || expect.contains("runs");
  if (listed) {
    const auto want = tensor_of(expect, static_cast<int64_t>(got.size()));
    if (want.size() != got.size()) return str("has ", got.size(), " elements, not ", want.size());
    for (size_t i = 0; i < got.size(); ++i) {
      if (same(got[i], want[i], tolerance)) continue;
      return str("element ", i, " is ", got[i], ", expected ", want[i]);
    }
  }
  if (expect.contains("at")) {
    for (const json& at : expect["at"]) {
      const size_t i = at[0];
      if (same(got.at(i), number(at[1]), tolerance)) continue;
      return str("element ", i, " is ", got[i], ", expected ", number(at[1]));
    }
  }
  return triple_fault(expect, got, tolerance);
}

std::vector<ConvProblem> problems_of(const FieldCase& c) {
  std::vector<DType> dtypes = c.dtypes;
  // Values that tf32 holds: all but F24a's.
  if (dtypes.front() == DType::kF32 && c.id != "F24a") dtypes.push_back(DType::kTf32);
  std::vector<ConvProblem> problems;
  for (const DType dtype : dtypes) {
    for (const Layout layout : c.layouts) {
      ConvProblem p = c.problem;
      p.dtype = dtype;
      p.layout = layout;
      problems.push_back(p);
      if (c.expect.contains("dx")) problems.push_back(for_pass(p, Pass::kDgrad));
      if (c.expect.contains("dw")) problems.push_back(for_pass(p, Pass::kWgrad));
    }
  }
  return problems;
}

std::vector<Forms> forms_of(const FieldCase& c, const ConvProblem& p) {
  std::vector<Forms> all(1);
  Forms together;
  for (const json& view : c.views) {
    const std::string tensor = view["tensor"];
    Form form = packed_form(shape_of(p, tensor), p.layout);
    if (view.contains("strides")) {
      const std::vector<int64_t> strides = view["strides"];
      std::copy(strides.begin(), strides.end(), form.strides.begin());
    }
    form.offset = view.value("offset", int64_t{0});
    all.push_back({{tensor, form}});
    together[tensor] = form;
  }
  if (together.size() > 1) all.push_back(together);
  if (p.N * (p.C + p.K) * p.in[2] > kOwnForms) return all;
  // F18: slack of NaN between rows and pixels.
  Forms gaps;
  for (const char* tensor : {"x", "w", "dy", "y", "dx", "dw"})
    gaps[tensor] = gapped_form(shape_of(p, tensor), p.layout);
  all.push_back(gaps);
  // F10: every mix of the two layouts among x, w and dy (and y).
  const Layout other = p.layout == Layout::kNchw ? Layout::kNhwc : Layout::kNchw;
  const bool every_mix = c.id.starts_with("F10");
  for (int mask = every_mix ? 1 : 7; mask < 8; ++mask) {
    Forms mix;
    const char* tensors[3][2] = {{"x", "dx"}, {"w", "dw"}, {"y", "dy"}};
    for (int i = 0; i < 3; ++i) {
      if ((mask >> i & 1) == 0) continue;
      for (const char* tensor : tensors[i])
        mix[tensor] = packed_form(shape_of(p, tensor), other);
    }
    all.push_back(mix);
  }
  return all;
}

std::string case_fault(const FieldCase& c, const ConvProblem& p, const Operands& operands) {
  if (std::string fault = operands.damage(); !fault.empty()) return fault;
  for (const char* tensor : {"y", "dx", "dw", "db"}) {
    const bool given = p.pass == Pass::kWgrad ? tensor[0] == 'd' && tensor[1] != 'x'
                                              : tensor == std::string(result_name(p.pass));
    if (!given || !c.expect.contains(tensor)) continue;
    const Storage& got = operands.at(tensor);
    if (const int64_t i = got.first_unwritten(); i >= 0) {
      return str(tensor, " element ", i, " is not written");
    }
    const std::string fault = fault_against(c.expect[tensor], got.values(), shape_of(p, tensor));
    if (!fault.empty()) return str(tensor, " ", fault);
  }
  return "";
}

bool mentions(std::string message, std::string what) {
  const auto lower = [](unsigned char c) { return static_cast<char>(std::tolower(c)); };
  std::transform(message.begin(), message.end(), message.begin(), lower);
  std::transform(what.begin(), what.end(), what.begin(), lower);
  const bool numeric = std::isdigit(static_cast<unsigned char>(what.back())) != 0;
  for (size_t at = message.find(what); at != std::string::npos; at = message.find(what, at + 1)) {
    const unsigned char before = at == 0 ? ' ' : static_cast<unsigned char>(message[at - 1]);
    const size_t end = at + what.size();
    const unsigned char after =
        end == message.size() ? ' ' : static_cast<unsigned char>(message[end]);
    const bool shape = what.find('x') != std::string::npos && numeric;
    if (!numeric && std::isalnum(before) == 0) return true;
    if (numeric && std::isdigit(before) == 0 && std::isdigit(after) == 0 &&
        !(shape && (after == 'x' || before == 'x'))) {
      return true;
    }
  }
  return false;
}

}  // namespace convoy::test
