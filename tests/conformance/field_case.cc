// Reads field_cases.json and judges tensors against it.
#include "conformance/field_case.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <fstream>

#include "base/str.h"
#include "support/fill.h"

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
  static const json file = json::parse(std::ifstream(CONVOY_FIELD_CASES), nullptr, false);
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
