// Two records of one machine and suite, row by row, judged by the rows' own spread.
#include "bench/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

namespace convoy::bench {
namespace {

using Json = nlohmann::json;
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

struct Times {
  double median_us, noise_us;
};

// problem, cache, impl; the problem's text holds its layout.
using Key = std::array<std::string, 3>;

struct Parsed {
  std::string machine;
  std::map<Key, Times> rows;
  std::set<std::string> problems;
};

double number_or_nan(const Json& value) {
  return value.is_null() ? kNone : value.get<double>();
}

// nlohmann reports by exceptions; they end here.
Result<Parsed> parse(std::string_view text, const std::string& name) {
  const auto refuse = [&](const std::string& why) {
    return invalid(
        fmt::format("record {}: {}; pass a file written by `convoy bench --record`", name, why));
  };
  Parsed parsed;
  try {
    const Json document = Json::parse(text);
    const int schema = document.at("schema").get<int>();
    if (schema != 1) return refuse(fmt::format("schema={} must be 1", schema));
    parsed.machine = document.at("machine").get<std::string>();
    for (const Json& row : document.at("rows")) {
      const Key key = {row.at("problem").get<std::string>(), row.at("cache").get<std::string>(),
                       row.at("impl").get<std::string>()};
      const Times times = {number_or_nan(row.at("median_us")),
                           number_or_nan(row.at("p90_us")) - number_or_nan(row.at("p10_us"))};
      parsed.problems.insert(key[0]);
      if (!parsed.rows.emplace(key, times).second) {
        return refuse(fmt::format("row '{}' {} {} occurs twice", key[0], key[1], key[2]));
      }
    }
  } catch (const Json::exception& e) {
    std::string why = e.what();
    std::replace(why.begin(), why.end(), '\n', ' ');
    return refuse(why);
  }
  return parsed;
}

Status same_suite(const Parsed& a, const Parsed& b, const std::string& a_name,
                  const std::string& b_name) {
  if (a.machine != b.machine) {
    return invalid(fmt::format(
        "bench-compare: machine '{}' of {} differs from '{}' of {}; compare records of one machine",
        a.machine, a_name, b.machine, b_name));
  }
  const auto missing = [](const Parsed& from, const Parsed& in) -> const std::string* {
    for (const std::string& problem : from.problems) {
      if (in.problems.count(problem) == 0) return &problem;
    }
    return nullptr;
  };
  const std::string* only_a = missing(a, b);
  const std::string* only_b = missing(b, a);
  if (only_a == nullptr && only_b == nullptr) return {};
  return invalid(
      fmt::format("bench-compare: problem '{}' is in {} only; compare records of one suite",
                  only_a != nullptr ? *only_a : *only_b, only_a != nullptr ? a_name : b_name));
}

Delta delta(const Key& key, const Times* a, const Times* b) {
  Delta d{.problem = key[0], .cache = key[1], .impl = key[2]};
  d.a_us = a != nullptr ? a->median_us : kNone;
  d.b_us = b != nullptr ? b->median_us : kNone;
  d.noise_us = a != nullptr && b != nullptr ? std::max(a->noise_us, b->noise_us) : kNone;
  d.change = judge_change(d.a_us, d.b_us, d.noise_us);
  return d;
}

}  // namespace

const char* name(Change change) {
  constexpr const char* kNames[] = {"slower", "faster", "same", "gone", "new"};
  return kNames[static_cast<int>(change)];
}

Change judge_change(double a_us, double b_us, double noise_us) {
  if (std::isnan(b_us) && !std::isnan(a_us)) return Change::kGone;
  if (std::isnan(a_us) && !std::isnan(b_us)) return Change::kNew;
  if (b_us - a_us > noise_us) return Change::kSlower;
  if (a_us - b_us > noise_us) return Change::kFaster;
  return Change::kSame;
}

Result<Comparison> compare(std::string_view a_text, std::string_view b_text,
                           const std::string& a_name, const std::string& b_name) {
  const Result<Parsed> a = parse(a_text, a_name);
  if (!a) return a.status();
  const Result<Parsed> b = parse(b_text, b_name);
  if (!b) return b.status();
  if (Status s = same_suite(*a, *b, a_name, b_name); !s.ok()) return s;
  Comparison result{.machine = a->machine, .rows = {}};
  std::set<Key> keys;
  for (const auto& side : {*a, *b}) {
    for (const auto& [key, times] : side.rows)
      keys.insert(key);
  }
  const auto find = [](const Parsed& side, const Key& key) {
    const auto at = side.rows.find(key);
    return at == side.rows.end() ? nullptr : &at->second;
  };
  for (const Key& key : keys)
    result.rows.push_back(delta(key, find(*a, key), find(*b, key)));
  const auto rank = [](const Delta& d) {
    return std::isnan(d.percent()) ? -std::numeric_limits<double>::infinity() : d.percent();
  };
  std::sort(result.rows.begin(), result.rows.end(), [&](const Delta& x, const Delta& y) {
    return std::tuple(-rank(x), x.problem, x.cache, x.impl) <
           std::tuple(-rank(y), y.problem, y.cache, y.impl);
  });
  return result;
}

}  // namespace convoy::bench
