// A YAML text as a plain tree with line numbers: the only place that talks to yaml-cpp.
#include "manifest/value.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <set>
#include <sstream>

#include "base/str.h"

namespace convoy::manifest {
namespace {

// Events instead of YAML::Node: they carry a line, and an alias arrives as itself, unexpanded.
// After the first fault every further event is ignored, so a hostile text builds nothing more.
class Builder : public YAML::EventHandler {
 public:
  explicit Builder(const FaultSink& sink) : sink_(sink) {}

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override {
    add({.kind = Value::Kind::kNull, .line = mark.line + 1});
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    fail(mark, "aliases (*name) are not part of a manifest; write the value out");
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& text) override {
    if (!plain(mark, tag, anchor)) return;
    add({.kind = Value::Kind::kScalar, .line = mark.line + 1, .scalar = text});
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    if (plain(mark, tag, anchor)) open(mark, Value::Kind::kSequence);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    if (plain(mark, tag, anchor)) open(mark, Value::Kind::kMapping);
  }
  void OnMapEnd() override { close(); }

  bool failed() const { return failed_; }
  Value take() { return std::move(root_); }

 private:
  struct Frame {
    Value value;
    std::set<std::string> named;
    bool key_pending = false;  // the last key still lacks its value
  };

  void fail(const YAML::Mark& mark, std::string message) {
    fail_at(mark.line + 1, std::move(message));
  }
  void fail_at(int line, std::string message) {
    if (!failed_) sink_.add(line, "yaml: " + std::move(message));
    failed_ = true;
  }

  // yaml-cpp hands "?" for untagged values and "!" for quoted ones.
  bool plain(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
    if (anchor != 0) fail(mark, "anchors (&name) are not part of a manifest; write the value out");
    if (!tag.empty() && tag != "?" && tag != "!") {
      fail(mark, str("tag ", tag, " is not part of a manifest; leave it out"));
    }
    return !failed_;
  }

  void open(const YAML::Mark& mark, Value::Kind kind) {
    if (open_.size() >= kMaxDepth) {
      fail(mark, str("nesting is deeper than ", kMaxDepth, " levels; flatten it"));
      return;
    }
    open_.push_back({.value = {.kind = kind, .line = mark.line + 1}});
  }

  void close() {
    if (failed_) return;
    Value done = std::move(open_.back().value);
    open_.pop_back();
    add(std::move(done));
  }

  void add(Value value) {
    if (failed_) return;
    if (open_.empty()) {
      root_ = std::move(value);
      return;
    }
    Frame& frame = open_.back();
    if (frame.value.kind == Value::Kind::kMapping && !frame.key_pending) {
      add_key(frame, value);
      return;
    }
    frame.value.items.push_back(std::move(value));
    frame.key_pending = false;
  }

  void add_key(Frame& frame, const Value& value) {
    if (value.kind != Value::Kind::kScalar) {
      fail_at(value.line, str("a key is a ", name(value.kind), ", keys must be words; name it"));
      return;
    }
    if (!frame.named.insert(value.scalar).second) {
      fail_at(value.line, str("key '", value.scalar, "' stands twice in one mapping; remove one"));
      return;
    }
    frame.value.keys.push_back({value.scalar, value.line});
    frame.key_pending = true;
  }

  const FaultSink& sink_;
  std::vector<Frame> open_;  // innermost last
  Value root_;
  bool failed_ = false;
};

}  // namespace

void FaultSink::add(int line, std::string message) const {
  for (char& c : message) {
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  }
  faults.push_back({file, line, std::move(message)});
}

const char* name(Value::Kind kind) {
  constexpr const char* kNames[] = {"empty value", "scalar", "list", "mapping"};
  return kNames[static_cast<int>(kind)];
}

std::optional<Value> parse_yaml(std::string_view text, const FaultSink& sink) {
  if (text.size() > kMaxFileBytes) {
    sink.add(0, str("yaml: the file has ", text.size(), " bytes, at most ", kMaxFileBytes,
                    " are read; split it"));
    return std::nullopt;
  }
  Builder builder(sink);
  try {  // yaml-cpp reports by exceptions; none leaves this function
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    if (!parser.HandleNextDocument(builder)) {
      sink.add(1, "yaml: the file is empty; write one mapping");
      return std::nullopt;
    }
    Builder second(sink);
    if (!builder.failed() && parser.HandleNextDocument(second)) {
      sink.add(1, "yaml: the file holds a second document (---); keep one");
      return std::nullopt;
    }
  } catch (const YAML::Exception& e) {
    if (!builder.failed()) sink.add(e.mark.line + 1, str("yaml: ", e.msg, "; correct the syntax"));
    return std::nullopt;
  } catch (const std::exception& e) {
    if (!builder.failed())
      sink.add(0, str("yaml: unreadable (", e.what(), "); correct the syntax"));
    return std::nullopt;
  }
  if (builder.failed()) return std::nullopt;
  return builder.take();
}

}  // namespace convoy::manifest
