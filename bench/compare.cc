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

// Reads members and keeps the first fault, in words of the record; past it all reads give nothing.
class Reader {
 public:
  const std::string& fault() const { return fault_; }
  void refuse(std::string fault) {
    if (fault_.empty()) fault_ = std::move(fault);
  }

  Json member(const Json& object, const char* key, const std::string& of) {
    if (!object.is_object()) {
      refuse(of + " must be an object");
    } else if (!object.contains(key)) {
      refuse(fmt::format("{} lacks the key {}", of, key));
    } else {
      return object[key];
    }
    return {};
  }

  std::string text(const Json& object, const char* key, const std::string& of) {
    const Json value = member(object, key, of);
    if (value.is_string()) return value.get<std::string>();
    refuse(fmt::format("{}: {} must be a text", of, key));
    return {};
  }

  // NaN for a row that was lost.
  double time_us(const Json& row, const char* key, const std::string& of) {
    const Json value = member(row, key, of);
    if (value.is_number() && value.get<double>() >= 0) return value.get<double>();
    if (!value.is_null()) refuse(fmt::format("{}: {} must be a time or null", of, key));
    return kNone;
  }

 private:
  std::string fault_;
};

void read_rows(const Json& rows, Reader& reader, Parsed& parsed) {
  if (!rows.is_array()) return reader.refuse("rows must be an array");
  for (const Json& row : rows) {
    const std::string of = fmt::format("row {}", parsed.rows.size() + 1);
    const Key key = {reader.text(row, "problem", of), reader.text(row, "cache", of),
                     reader.text(row, "impl", of)};
    const Times times = {reader.time_us(row, "median_us", of),
                         reader.time_us(row, "p90_us", of) - reader.time_us(row, "p10_us", of)};
    if (!reader.fault().empty()) return;
    parsed.problems.insert(key[0]);
    if (!parsed.rows.emplace(key, times).second) {
      reader.refuse(fmt::format("row '{}' {} {} occurs twice", key[0], key[1], key[2]));
    }
  }
}

Result<Parsed> parse(std::string_view text, const std::string& name) {
  Reader reader;
  Parsed parsed;
  const Json document = Json::parse(text, nullptr, false);
  if (document.is_discarded()) {
    reader.refuse("is no JSON document");
  } else {
    const Json schema = reader.member(document, "schema", "the document");
    if (schema != 1) reader.refuse(fmt::format("schema={} must be 1", schema.dump()));
    parsed.machine = reader.text(document, "machine", "the document");
    read_rows(reader.member(document, "rows", "the document"), reader, parsed);
  }
  if (reader.fault().empty()) return parsed;
  return invalid(fmt::format("record {}: {}; pass a file written by `convoy bench --record`", name,
                             reader.fault()));
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
