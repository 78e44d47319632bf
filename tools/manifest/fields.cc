// The fields of one YAML mapping: every key is known, every value has the type that is asked for.
#include "manifest/fields.h"

#include <charconv>

#include "base/str.h"

namespace convoy::manifest {

Fields::Fields(const Value& value, std::string what, std::initializer_list<std::string_view> known,
               const FaultSink& sink)
    : value_(value), what_(std::move(what)), sink_(sink) {
  if (value.kind != Value::Kind::kMapping) {
    fault(value.line, str("is a ", name(value.kind), ", must be a mapping; write key: value"));
    return;
  }
  for (const Key& key : value.keys) {
    if (std::find(known.begin(), known.end(), key.text) != known.end()) continue;
    std::string all;
    for (const std::string_view k : known)
      all += str(all.empty() ? "" : " ", k);
    fault(key.line, str("unknown key '", key.text, "'; use ", all));
  }
}

void Fields::fault(int line, const std::string& message) const {
  sink_.add(line, str(what_, ": ", message));
}

const Value* Fields::find(std::string_view key) const {
  for (size_t i = 0; i < value_.keys.size(); ++i) {
    if (value_.keys[i].text == key) return &value_.items[i];
  }
  return nullptr;
}

const Value* Fields::need(std::string_view key, Value::Kind kind) const {
  if (value_.kind != Value::Kind::kMapping) return nullptr;  // one fault is enough
  const Value* value = find(key);
  if (value == nullptr) {
    fault(value_.line, str("key '", key, "' is missing; add it"));
    return nullptr;
  }
  if (value->kind != kind) {
    fault(value->line, str(key, " is a ", name(value->kind), ", must be a ", name(kind)));
    return nullptr;
  }
  return value;
}

Located scalar(const Value& value, const Fields& fields, std::string_view key) {
  if (value.kind != Value::Kind::kScalar || value.scalar.empty()) {
    const char* kind = value.kind == Value::Kind::kScalar ? "empty value" : name(value.kind);
    fields.fault(value.line, str(key, " is a ", kind, ", must be a word"));
    return {.line = value.line};
  }
  return {value.scalar, value.line};
}

Located Fields::text(std::string_view key) const {
  const Value* value = need(key, Value::Kind::kScalar);
  return value == nullptr ? Located{.line = line()} : scalar(*value, *this, key);
}

std::optional<int64_t> Fields::integer(std::string_view key) const {
  const Located at = text(key);
  if (at.text.empty()) return std::nullopt;
  int64_t out = 0;
  const char* end = at.text.data() + at.text.size();
  const auto [stop, error] = std::from_chars(at.text.data(), end, out);
  if (error != std::errc() || stop != end) {
    fault(at.line, str(key, " '", at.text, "' must be an integer"));
    return std::nullopt;
  }
  return out;
}

bool Fields::flag(std::string_view key) const {
  if (find(key) == nullptr) return false;
  const Located at = text(key);
  if (at.text != "true" && at.text != "false") {
    fault(at.line, str(key, " '", at.text, "' must be true or false"));
  }
  return at.text == "true";
}

std::vector<Located> Fields::list(std::string_view key) const {
  std::vector<Located> out;
  const Value* value = need(key, Value::Kind::kSequence);
  if (value == nullptr) return out;
  if (value->items.empty()) fault(value->line, str(key, " is empty; list at least one"));
  for (const Value& item : value->items) {
    if (Located at = scalar(item, *this, key); !at.text.empty()) out.push_back(std::move(at));
  }
  return out;
}

std::vector<std::pair<std::string, Located>> Fields::map(std::string_view key) const {
  std::vector<std::pair<std::string, Located>> out;
  const Value* value = need(key, Value::Kind::kMapping);
  if (value == nullptr) return out;
  for (size_t i = 0; i < value->keys.size(); ++i) {
    Located at = scalar(value->items[i], *this, str(key, " ", value->keys[i].text));
    if (!at.text.empty()) out.emplace_back(value->keys[i].text, std::move(at));
  }
  return out;
}

}  // namespace convoy::manifest
