// Expected results in f64 and the judgement of a computed one.
#include "support/oracle.h"

#include <cmath>

#include "base/str.h"

namespace convoy::test {
namespace {

Operand<const double> dense(const std::vector<double>& values, std::array<int64_t, 5> extents) {
  Operand<const double> out{.data = values.data()};
  int64_t stride = 1;
  for (int i = 5; i-- > 0;) {
    out.stride[i] = stride;
    stride *= extents[i];
  }
  return out;
}

double round_to_dtype(DType dtype, double v) {
  if (dtype == DType::kF16) return Half::from(v).value();
  if (dtype == DType::kBf16) return BFloat16::from(v).value();
  return static_cast<float>(v);
}

double bound(const ConvProblem& p, DType out, const Sum& e, int64_t products) {
  const double m = p.dtype == DType::kTf32 ? 0x1p-10 : 0;
  const double factor = p.activation == Activation::kNone ? 1 : 1.5;
  const double u = out == DType::kF16 ? 0x1p-11 : out == DType::kBf16 ? 0x1p-8 : 0x1p-24;
  const double tiny = out == DType::kF16 ? 0x1p-24 : out == DType::kBf16 ? 0x1p-133 : 0x1p-149;
  return factor * (static_cast<double>(products + 2) * 0x1p-24 + m) * e.magnitude +
         u * std::abs(e.value) + tiny;
}

bool is_right(const ConvProblem& p, DType dtype, const Sum& e, double got, Judge judge,
              int64_t products) {
  const double rounded = round_to_dtype(dtype, e.value);
  if (std::isnan(rounded)) return std::isnan(got);
  if (judge == Judge::kExact || std::isinf(rounded)) return got == rounded;
  return std::abs(got - e.value) <= bound(p, dtype, e, products);
}

}  // namespace

std::vector<Sum> expected_result(const ConvProblem& p, const Values& v) {
  const auto x = dense(v.x, {p.N, p.C, p.in[0], p.in[1], p.in[2]});
  const auto w = dense(v.w, {p.K, p.cpg(), p.filter[0], p.filter[1], p.filter[2]});
  const auto dy = dense(v.dy, {p.N, p.K, out_extent(p, 0), out_extent(p, 1), out_extent(p, 2)});
  const auto e = result_extents(p);
  std::vector<Sum> out;
  out.reserve(static_cast<size_t>(e[0] * e[1] * e[2] * e[3] * e[4]));
  std::array<int64_t, 5> at = {};
  const auto one = [&]() -> Sum {
    if (p.pass == Pass::kDgrad) return dgrad_sum(p, dy, w, at);
    if (p.pass == Pass::kWgrad) return wgrad_sum(p, x, dy, at);
    Sum sum = fprop_sum(p, x, w, at);
    if (p.bias != BiasType::kNone) sum.add(v.bias[static_cast<size_t>(at[1])]);
    return {activate(p.activation, sum.value), sum.magnitude};
  };
  for (at[0] = 0; at[0] < e[0]; ++at[0]) {
    for (at[1] = 0; at[1] < e[1]; ++at[1]) {
      for (at[2] = 0; at[2] < e[2]; ++at[2]) {
        for (at[3] = 0; at[3] < e[3]; ++at[3]) {
          for (at[4] = 0; at[4] < e[4]; ++at[4])
            out.push_back(one());
        }
      }
    }
  }
  return out;
}

std::vector<Sum> expected_db(const ConvProblem& p, const Values& v) {
  const auto dy = dense(v.dy, {p.N, p.K, out_extent(p, 0), out_extent(p, 1), out_extent(p, 2)});
  std::vector<Sum> out;
  for (int64_t k = 0; k < p.K; ++k)
    out.push_back(db_sum(p, dy, k));
  return out;
}

std::string first_fault(const ConvProblem& p, const std::vector<Sum>& expected, const Storage& got,
                        Judge judge, int64_t products) {
  if (const int64_t i = got.first_unwritten(); i >= 0) return str("element ", i, " is not written");
  const std::vector<double> values = got.values();
  for (size_t i = 0; i < values.size(); ++i) {
    if (is_right(p, got.view().dtype, expected[i], values[i], judge, products)) continue;
    return str("element ", i, " is ", values[i], ", expected ", expected[i].value, " (sum|x*w| ",
               expected[i].magnitude, judge == Judge::kExact ? ", exact)" : ", within the bound)");
  }
  return got.damage();
}

int64_t products_of(const ConvProblem& p) {
  const int64_t taps = p.filter[0] * p.filter[1] * p.filter[2];
  if (p.pass == Pass::kFprop) return p.cpg() * taps;
  if (p.pass == Pass::kDgrad) return p.kpg() * taps;
  return p.N * out_extent(p, 0) * out_extent(p, 1) * out_extent(p, 2);
}

}  // namespace convoy::test
