// What the files of the C interface share: handles, checked structs, and the error of a thread.
#pragma once

#include <convoy/c_api.h>
#include <convoy/convoy.h>

#include <cstddef>
#include <new>
#include <string>

// NOLINTBEGIN(readability-identifier-naming): the names of the C header.
struct convoy_device {
  convoy::Device device;
};
struct convoy_plan {
  convoy::Plan plan;
  std::string problem;
  convoy::Device device;
};
struct convoy_packed {
  convoy::PackedWeights weights;
};
// NOLINTEND(readability-identifier-naming)

namespace convoy::c_api {

// Keeps the message for convoy_last_error() of this thread; gives the code.
convoy_status fail(Code code, const char* message);
convoy_status fail_unexpected(const char* function);

// Runs `body`, which returns a Status, and turns whatever leaves it into a code and a message.
template <class Body>
convoy_status guarded(const char* function, const Body& body) noexcept {
  try {
    const Status status = body();
    return status.ok() ? CONVOY_OK : fail(status.code(), status.message().c_str());
  } catch (const std::bad_alloc&) {
    return fail(Code::kUnavailable, "memory: the allocation failed; free some");
  } catch (...) {
    return fail_unexpected(function);
  }
}

Status not_null(const char* function, const char* parameter, bool present);
// kInvalid where a struct was compiled against another version.
Status check_size(const char* type, size_t given, size_t expected);

}  // namespace convoy::c_api
