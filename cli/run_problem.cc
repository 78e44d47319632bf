// Merges a problem text with array shapes; every mismatch names what was given and expected.
#include "run_problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>

namespace convoy::cli {
namespace {

using Axes = std::array<std::optional<int64_t>, 3>;

constexpr std::string_view kInput = "dhw", kFilter = "trs", kOutput = "zpq";

struct Axis {
  std::string name;
  std::optional<int64_t> size;
};

// "4x1x3x3", with capitals for what nothing says yet: "NxCx5x5".
std::string expected_text(const std::vector<Axis>& axes) {
  std::string text;
  for (const Axis& axis : axes) {
    if (!text.empty()) text += 'x';
    if (axis.size) {
      text += fmt::format("{}", *axis.size);
    } else {
      for (const char letter : axis.name)
        text += static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
    }
  }
  return text;
}

class Merge {
 public:
  Merge(const PartialProblem& text, const ArrayShapes& shapes) : text_(text), shapes_(shapes) {}

  Result<ConvProblem> run() {
    if (Status s = take_x(); !s.ok()) return s;
    if (Status s = take_w(); !s.ok()) return s;
    if (Status s = take_dy(); !s.ok()) return s;
    Result<ConvProblem> problem = complete(text_);
    if (!problem) return problem;
    if (Status s = compare_all(*problem); !s.ok()) return s;
    return problem;
  }

 private:
  int first_axis() const { return text_.fields.first_axis(); }

  std::vector<Axis> axes(Axis outer, Axis channels, std::string_view letters,
                         const Axes& spatial) const {
    std::vector<Axis> all = {std::move(outer), std::move(channels)};
    for (int d = first_axis(); d < 3; ++d)
      all.push_back({std::string(1, letters[d]), spatial[d]});
    return all;
  }

  static Status check_rank(std::string_view array, const std::vector<int64_t>& shape,
                           const std::vector<Axis>& expected) {
    if (shape.size() == expected.size()) return {};
    return invalid(
        fmt::format("run: {} has shape {} of {} axes, expected {} of {} axes; reshape it", array,
                    shape_text(shape), shape.size(), expected_text(expected), expected.size()));
  }

  // Fills an open field or compares a written one.
  static Status take(std::optional<int64_t>& field, std::string_view letter, std::string_view array,
                     const std::vector<int64_t>& shape, size_t axis) {
    if (!field) field = shape[axis];
    if (*field == shape[axis]) return {};
    return invalid(
        fmt::format("run: the text says {}={} but {} of shape {} says {}={}; make them agree",
                    letter, *field, array, shape_text(shape), letter, shape[axis]));
  }

  Status take_spatial(Axes& fields, std::string_view letters, std::string_view array,
                      const std::vector<int64_t>& shape) const {
    for (int d = first_axis(); d < 3; ++d) {
      const auto axis = static_cast<size_t>(2 + d - first_axis());
      if (Status s = take(fields[d], letters.substr(d, 1), array, shape, axis); !s.ok()) return s;
    }
    return {};
  }

  Status take_x() {
    if (shapes_.x.empty()) return {};
    const auto expected = axes({"n", text_.N}, {"c", text_.C}, kInput, text_.in);
    if (Status s = check_rank("x", shapes_.x, expected); !s.ok()) return s;
    if (Status s = take(text_.N, "n", "x", shapes_.x, 0); !s.ok()) return s;
    if (Status s = take(text_.C, "c", "x", shapes_.x, 1); !s.ok()) return s;
    return take_spatial(text_.in, kInput, "x", shapes_.x);
  }

  Status take_w() {
    if (shapes_.w.empty()) return {};
    Axis cpg{"c/g", {}};
    const bool whole = text_.C && text_.G && *text_.G > 0 && *text_.C % *text_.G == 0;
    if (whole) cpg.size = *text_.C / *text_.G;
    const auto expected = axes({"k", text_.K}, cpg, kFilter, text_.filter);
    if (Status s = check_rank("w", shapes_.w, expected); !s.ok()) return s;
    if (Status s = take(text_.K, "k", "w", shapes_.w, 0); !s.ok()) return s;
    if (Status s = take_spatial(text_.filter, kFilter, "w", shapes_.w); !s.ok()) return s;
    return infer_groups();
  }

  // c = g * (channels of w): one of c and g follows from the other.
  Status infer_groups() {
    const int64_t cpg = shapes_.w[1];
    if (!text_.G && !text_.C) {
      return invalid("run: dgrad needs the input channels c or the groups g; add c<int> or g<int>");
    }
    if (cpg < 1) {
      return invalid(fmt::format("run: w of shape {} has no input channels; pass at least 1",
                                 shape_text(shapes_.w)));
    }
    if (!text_.G) {
      if (*text_.C % cpg != 0) {
        return invalid(
            fmt::format("run: input has {} channels, weight expects {} per group (w has "
                        "shape {}): not a whole number of groups; add g<int> or fix w",
                        *text_.C, cpg, shape_text(shapes_.w)));
      }
      text_.G = *text_.C / cpg;
    }
    if (text_.C) return {};
    int64_t C = 0;
    if (__builtin_mul_overflow(std::max<int64_t>(*text_.G, 1), cpg, &C)) {
      return invalid(
          fmt::format("run: g={} times {} channels of w exceeds 2^63 - 1; use fewer "
                      "groups",
                      *text_.G, cpg));
    }
    text_.C = C;
    return {};
  }

  Status take_dy() {
    if (shapes_.dy.empty()) return {};
    const auto expected = axes({"n", text_.N}, {"k", text_.K}, kOutput, {});
    if (Status s = check_rank("dy", shapes_.dy, expected); !s.ok()) return s;
    // x and w have spoken for n and k; whether dy agrees is compared as a whole shape.
    if (shapes_.x.empty()) {
      if (Status s = take(text_.N, "n", "dy", shapes_.dy, 0); !s.ok()) return s;
    }
    return shapes_.w.empty() ? take(text_.K, "k", "dy", shapes_.dy, 1) : Status();
  }

  static Status compare(std::string_view array, const std::vector<int64_t>& shape,
                        const Shape& expected, std::string_view why) {
    if (shape.empty() ||
        std::equal(shape.begin(), shape.end(), expected.span().begin(), expected.span().end())) {
      return {};
    }
    return invalid(fmt::format("run: {} has shape {}, expected {} ({}); pass that shape", array,
                               shape_text(shape), shape_text(expected.span()), why));
  }

  Status compare_all(const ConvProblem& p) const {
    const std::string channels =
        shapes_.w.empty() ? ""
                          : fmt::format(
                                "{} input channels per group where {} are expected: c={} in "
                                "g={} groups",
                                shapes_.w[1], p.cpg(), p.C, p.G);
    if (Status s = compare("w", shapes_.w, w_shape(p), channels); !s.ok()) return s;
    if (Status s = compare("dy", shapes_.dy, y_shape(p), "the output of the forward pass");
        !s.ok()) {
      return s;
    }
    return compare("bias", shapes_.bias, bias_shape(p), "one value per output channel k");
  }

  PartialProblem text_;
  const ArrayShapes& shapes_;
};

}  // namespace

Result<ConvProblem> problem_of_arrays(const PartialProblem& text, const ArrayShapes& shapes) {
  return Merge(text, shapes).run();
}

}  // namespace convoy::cli
