// Status and Result: how every fallible call answers. The library neither throws nor aborts.
#pragma once

#include <optional>
#include <string>
#include <utility>

namespace convoy {

enum class Code {
  kOk,
  kInvalid,      // the caller fixes it
  kUnsupported,  // valid, but no candidate serves it
  kUnavailable,  // device, driver or memory is missing
  kInternal,     // a bug of Convoy
};

// The word of a code: "ok", "kInvalid", "kUnsupported", "kUnavailable", "kInternal".
const char* name(Code code);

class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Code code, std::string message) : code_(code), message_(std::move(message)) {}

  bool ok() const { return code_ == Code::kOk; }
  Code code() const { return code_; }
  // One line: parameter, value, rule; fix.
  const std::string& message() const { return message_; }

 private:
  Code code_ = Code::kOk;
  std::string message_;
};

inline Status invalid(std::string message) {
  return {Code::kInvalid, std::move(message)};
}
inline Status unsupported(std::string message) {
  return {Code::kUnsupported, std::move(message)};
}
inline Status unavailable(std::string message) {
  return {Code::kUnavailable, std::move(message)};
}
inline Status internal(std::string message) {
  return {Code::kInternal, std::move(message)};
}

// A value, or the reason why there is none. Reading the value of a failed Result is undefined.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}          // NOLINT(google-explicit-constructor)
  Result(Status status) : status_(std::move(status)) {}  // NOLINT(google-explicit-constructor)

  bool ok() const { return value_.has_value(); }
  explicit operator bool() const { return ok(); }
  const Status& status() const { return status_; }

  // NOLINTBEGIN(bugprone-unchecked-optional-access): the caller has asked ok().
  T& operator*() & { return *value_; }
  const T& operator*() const& { return *value_; }
  T&& operator*() && { return *std::move(value_); }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }
  // NOLINTEND(bugprone-unchecked-optional-access)

 private:
  std::optional<T> value_;
  Status status_;
};

}  // namespace convoy
