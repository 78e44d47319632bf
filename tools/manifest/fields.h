// The fields of one YAML mapping: every key is known, every value has the type that is asked for.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "manifest/manifest.h"
#include "manifest/value.h"

namespace convoy::manifest {

// Faults go to the sink and name `what`; a field at fault reads as empty.
class Fields {
 public:
  Fields(const Value& value, std::string what, std::initializer_list<std::string_view> known,
         const FaultSink& sink);

  int line() const { return value_.line; }
  const std::string& what() const { return what_; }
  void rename(std::string what) { what_ = std::move(what); }
  void fault(int line, const std::string& message) const;

  const Value* find(std::string_view key) const;  // null when absent, no fault
  const Value* need(std::string_view key, Value::Kind kind) const;

  Located text(std::string_view key) const;  // present and not empty
  std::optional<int64_t> integer(std::string_view key) const;
  bool flag(std::string_view key) const;  // false when absent
  std::vector<Located> list(std::string_view key) const;
  std::vector<std::pair<std::string, Located>> map(std::string_view key) const;

  // The value among `values` whose name() is the text.
  template <class E>
  std::optional<E> word(std::string_view key, const std::vector<E>& values) const {
    const Located at = text(key);
    return at.text.empty() ? std::nullopt : choose(at, key, values);
  }
  // A list of them, at least one, none twice.
  template <class E>
  std::vector<E> words(std::string_view key, const std::vector<E>& values) const {
    std::vector<E> out;
    for (const Located& at : list(key)) {
      const std::optional<E> value = choose(at, key, values);
      if (!value) continue;
      if (std::find(out.begin(), out.end(), *value) != out.end()) {
        fault(at.line, std::string(key) + " lists '" + at.text + "' twice; remove one");
      }
      out.push_back(*value);
    }
    return out;
  }

 private:
  template <class E>
  std::optional<E> choose(const Located& at, std::string_view key,
                          const std::vector<E>& values) const {
    std::string known;
    for (const E value : values) {
      if (at.text == name(value)) return value;
      known += std::string(known.empty() ? "" : ", ") + name(value);
    }
    fault(at.line, std::string(key) + " '" + at.text + "' must be one of " + known);
    return std::nullopt;
  }

  const Value& value_;
  std::string what_;
  const FaultSink& sink_;
};

// The word of a scalar, or a fault.
Located scalar(const Value& value, const Fields& fields, std::string_view key);

}  // namespace convoy::manifest
