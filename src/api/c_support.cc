// Errors and checks of the C interface.
#include "api/c_support.h"

#include <cstdio>

#include "base/str.h"

namespace convoy::c_api {
namespace {

static_assert(static_cast<int>(Code::kInternal) == CONVOY_INTERNAL);

// A fixed array, so that reporting a lack of memory needs none.
thread_local char last_error[1024] = "";

}  // namespace

convoy_status fail(Code code, const char* message) {
  std::snprintf(last_error, sizeof last_error, "%s", message);
  return static_cast<convoy_status>(code);
}

convoy_status fail_unexpected(const char* function) {
  std::snprintf(last_error, sizeof last_error, "%s: an unexpected exception; report it", function);
  return CONVOY_INTERNAL;
}

Status not_null(const char* function, const char* parameter, bool present) {
  if (present) return {};
  return invalid(str(function, ": ", parameter, " is null; pass a valid pointer"));
}

Status check_size(const char* type, size_t given, size_t expected) {
  if (given == expected) return {};
  return invalid(str(type, ": struct_size=", given, " must be ", expected, "; set it to sizeof(",
                     type, ") of this version's header"));
}

}  // namespace convoy::c_api

const char* convoy_version(void) {
  return convoy::version();
}

const char* convoy_last_error(void) {
  return convoy::c_api::last_error;
}
