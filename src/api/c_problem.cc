// Problems through the C interface: checks, shapes and counts of a text.
#include <algorithm>
#include <iterator>

#include "api/c_support.h"
#include "base/str.h"

namespace convoy::c_api {
namespace {

// Calls use(problem) with the parsed text; `has_out`: the caller gave a place for the answer.
template <class Use>
convoy_status with_problem(const char* function, const char* text, bool has_out,
                           const Use& use) noexcept {
  return guarded(function, [&]() -> Status {
    if (Status s = not_null(function, "problem", text != nullptr); !s.ok()) return s;
    if (Status s = not_null(function, "the output", has_out); !s.ok()) return s;
    const Result<ConvProblem> problem = parse_problem(text);
    return problem ? use(*problem) : problem.status();
  });
}

convoy_status count_of(const char* function, const char* text, int64_t* out,
                       int64_t (*count)(const ConvProblem&)) noexcept {
  return with_problem(function, text, out != nullptr, [&](const ConvProblem& p) -> Status {
    *out = count(p);
    return {};
  });
}

}  // namespace
}  // namespace convoy::c_api

using namespace convoy;  // NOLINT(google-build-using-namespace): the definitions below are C names.
using namespace convoy::c_api;  // NOLINT(google-build-using-namespace): likewise.

convoy_status convoy_problem_check(const char* problem) {
  return with_problem(__func__, problem, true, [](const ConvProblem&) { return Status(); });
}

convoy_status convoy_problem_shape(const char* problem, convoy_operand operand,
                                   int64_t sizes[CONVOY_MAX_RANK], int32_t* rank) {
  const char* function = __func__;
  return with_problem(function, problem, sizes != nullptr, [&](const ConvProblem& p) -> Status {
    if (Status s = not_null(function, "rank", rank != nullptr); !s.ok()) return s;
    constexpr Shape (*kShapes[])(const ConvProblem&) = {x_shape, w_shape, y_shape, bias_shape};
    const auto index = static_cast<size_t>(operand);
    if (index >= std::size(kShapes)) {
      return invalid(str(function, ": operand=", static_cast<int>(operand),
                         " must be a convoy_operand; use CONVOY_Y"));
    }
    const Shape shape = kShapes[index](p);
    std::copy(shape.sizes.begin(), shape.sizes.end(), sizes);
    *rank = shape.rank;
    return {};
  });
}

convoy_status convoy_problem_flops(const char* problem, int64_t* count) {
  return count_of(__func__, problem, count, flops);
}

convoy_status convoy_problem_bytes(const char* problem, int64_t* count) {
  return count_of(__func__, problem, count, bytes);
}
