// A YAML text as a plain tree with line numbers: the only place that talks to yaml-cpp.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace convoy::manifest {

struct Fault {
  std::string file;
  int line = 0;  // from 1; 0: the file as a whole
  std::string message;
};

// Collects the faults of one file; a message becomes one line, whatever text it quotes.
struct FaultSink {
  std::string file;
  std::vector<Fault>& faults;
  void add(int line, std::string message) const;
};

struct Key {
  std::string text;
  int line = 0;
};

struct Value {
  enum class Kind { kNull, kScalar, kSequence, kMapping };
  Kind kind = Kind::kNull;
  int line = 0;
  std::string scalar;
  std::vector<Key> keys;  // of a mapping: keys[i] names items[i]; no two are equal
  std::vector<Value> items;
};

const char* name(Value::Kind kind);

inline constexpr size_t kMaxFileBytes = size_t{1} << 20;
inline constexpr int kMaxDepth = 16;

// Nothing after one fault in `sink` when the text is not one plain YAML document: broken syntax,
// anchors, aliases, tags, repeated keys, too deep or too large.
std::optional<Value> parse_yaml(std::string_view text, const FaultSink& sink);

}  // namespace convoy::manifest
