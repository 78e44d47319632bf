// The text form of a problem: one line that serves CLI, tests, logs and bench.
#include <convoy/problem.h>

#include <charconv>
#include <limits>
#include <set>
#include <vector>

#include "base/str.h"

namespace convoy {
namespace {

constexpr std::string_view kWhat = "problem text: ";
constexpr std::string_view kIn = "dhw";
constexpr std::string_view kFilter = "trs";

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

Result<int64_t> parse_int(std::string_view token, std::string_view digits) {
  const std::string_view all = digits;
  if (digits.starts_with('+')) digits.remove_prefix(1);
  int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error == std::errc::result_out_of_range) {
    return invalid(str(kWhat, "'", token, "': ", all, " must be below 2^63; use a smaller number"));
  }
  if (error != std::errc() || end != digits.data() + digits.size() || all.starts_with("+-")) {
    return invalid(str(kWhat, "'", token, "': '", all, "' must be an integer; write digits only"));
  }
  return value;
}

class Parser {
 public:
  Result<PartialProblem> parse(std::string_view text) {
    std::vector<std::string_view> words;
    for (const std::string_view word : split(text, ' ')) {
      if (!word.empty()) words.push_back(word);
    }
    if (Status s = parse_head(words); !s.ok()) return s;
    for (size_t i = 3; i < words.size(); ++i) {
      if (Status s = parse_token(words[i]); !s.ok()) return s;
    }
    return partial_;
  }

 private:
  Status parse_head(const std::vector<std::string_view>& words) {
    constexpr std::string_view kForm =
        "; write it as 'conv2d fprop f32 n1 c8 k8 g8 h14 w14 r3 s3 pad1'";
    if (words.size() < 3) {
      return invalid(str(kWhat, "'", words.empty() ? "" : words[0],
                         "' must start with rank, pass and dtype", kForm));
    }
    ConvProblem& p = partial_.fields;
    const std::string_view rank = words[0];
    if (rank != "conv1d" && rank != "conv2d" && rank != "conv3d") {
      return invalid(str(kWhat, "rank '", rank, "' must be conv1d, conv2d or conv3d", kForm));
    }
    p.rank = rank[4] - '0';
    bool known = false;
    for (const Pass pass : {Pass::kFprop, Pass::kDgrad, Pass::kWgrad}) {
      if (words[1] != name(pass)) continue;
      p.pass = pass;
      known = true;
    }
    if (!known) {
      return invalid(str(kWhat, "pass '", words[1], "' must be fprop, dgrad or wgrad", kForm));
    }
    const auto dtype = dtype_from_name(words[2]);
    if (!dtype) {
      return invalid(str(kWhat, "dtype '", words[2], "' must be f32, tf32, f16 or bf16", kForm));
    }
    p.dtype = *dtype;
    return {};
  }

  Status once(std::string_view group, std::string_view token) {
    if (named_.insert(std::string(group)).second) return {};
    return invalid(str(kWhat, "'", token, "' repeats or contradicts ", group,
                       ", which may stand once; remove one"));
  }

  Status parse_token(std::string_view token) {
    ConvProblem& p = partial_.fields;
    if (token == "same" || token == "valid" || token == "causal") {
      if (token == "causal" && p.rank != 1) {
        return invalid(str(kWhat, "'causal' belongs to conv1d, not to conv", p.rank,
                           "d; write the pads as numbers"));
      }
      if (token == "same") partial_.pad = PartialProblem::Pad::kSame;
      if (token == "causal") partial_.pad = PartialProblem::Pad::kCausal;
      return once("pad", token);
    }
    for (const Layout layout : {Layout::kNchw, Layout::kNhwc}) {
      if (token != name(layout)) continue;
      p.layout = layout;
      return once("layout", token);
    }
    if (token == "bias" || token == "bias:f32") {
      p.bias = token == "bias" ? BiasType::kSame : BiasType::kF32;
      return once("bias", token);
    }
    for (const Activation a : {Activation::kRelu, Activation::kRelu6, Activation::kSilu,
                               Activation::kGelu, Activation::kHardswish}) {
      if (token != name(a)) continue;
      p.activation = a;
      return once("activation", token);
    }
    const size_t letters = token.find_first_not_of("abcdefghijklmnopqrstuvwxyz");
    const std::string_view key = token.substr(0, letters);
    if (letters == std::string_view::npos || key.empty()) return unknown(token);
    return parse_number(token, key, token.substr(letters));
  }

  static Status unknown(std::string_view token) {
    return invalid(str(kWhat, "unknown token '", token,
                       "'; use n c k g, d h w, t r s, stride dil pad, same valid causal, nchw "
                       "nhwc, bias, relu relu6 silu gelu hardswish"));
  }

  Status parse_number(std::string_view token, std::string_view key, std::string_view value) {
    ConvProblem& p = partial_.fields;
    if (key == "stride") return parse_axes(token, key, value, p.stride);
    if (key == "dil") return parse_axes(token, key, value, p.dilation);
    if (key == "pad") return parse_pad(token, value);
    std::optional<int64_t>* field = nullptr;
    if (key == "n") field = &partial_.N;
    if (key == "c") field = &partial_.C;
    if (key == "k") field = &partial_.K;
    if (key == "g") field = &partial_.G;
    for (int d = 0; d < 3; ++d) {
      const bool in = key == kIn.substr(d, 1);
      if (!in && key != kFilter.substr(d, 1)) continue;
      if (d < p.first_axis()) {
        return invalid(str(kWhat, "'", token, "': conv", p.rank, "d has no ", key,
                           "; leave it out or use a higher rank"));
      }
      field = in ? &partial_.in[d] : &partial_.filter[d];
    }
    if (field == nullptr) return unknown(token);
    const Result<int64_t> number = parse_int(token, value);
    if (!number) return number.status();
    *field = *number;
    return once(key, token);
  }

  // One entry for all axes or one per axis, outermost first.
  Status axis_count(std::string_view token, size_t entries) {
    const int rank = partial_.fields.rank;
    if (entries == 1 || entries == static_cast<size_t>(rank)) return {};
    return invalid(str(kWhat, "'", token, "' has ", entries, " entries, conv", rank,
                       "d takes 1 or ", rank, "; write one per spatial axis"));
  }

  Status parse_axes(std::string_view token, std::string_view key, std::string_view value,
                    std::array<int64_t, 3>& axes) {
    const std::vector<std::string_view> entries = split(value, 'x');
    if (Status s = axis_count(token, entries.size()); !s.ok()) return s;
    const int first = partial_.fields.first_axis();
    for (int d = first; d < 3; ++d) {
      const Result<int64_t> number = parse_int(token, entries[entries.size() == 1 ? 0 : d - first]);
      if (!number) return number.status();
      axes[d] = *number;
    }
    return once(key, token);
  }

  Status parse_pad(std::string_view token, std::string_view value) {
    const std::vector<std::string_view> entries = split(value, 'x');
    if (Status s = axis_count(token, entries.size()); !s.ok()) return s;
    ConvProblem& p = partial_.fields;
    for (int d = p.first_axis(); d < 3; ++d) {
      const std::vector<std::string_view> sides =
          split(entries[entries.size() == 1 ? 0 : d - p.first_axis()], ':');
      if (sides.size() > 2) {
        return invalid(str(kWhat, "'", token, "' has ", sides.size(),
                           " sides on one axis; write begin or begin:end"));
      }
      const Result<int64_t> lo = parse_int(token, sides.front());
      if (!lo) return lo.status();
      const Result<int64_t> hi = parse_int(token, sides.back());
      if (!hi) return hi.status();
      p.pad_lo[d] = *lo;
      p.pad_hi[d] = *hi;
    }
    return once("pad", token);
  }

  PartialProblem partial_;
  std::set<std::string> named_;
};

// same: total = max((ceil(L/stride)-1)*stride + dil*(r-1) + 1 - L, 0), the smaller half first
// (ONNX SAME_UPPER). causal: all of dil*(s-1) first.
Status resolve_pad(PartialProblem::Pad pad, ConvProblem& p) {
  for (int d = p.first_axis(); d < 3; ++d) {
    __extension__ using Wide = __int128;
    const Wide reach = Wide{p.dilation[d]} * (p.filter[d] - 1);
    Wide total = reach;
    if (pad == PartialProblem::Pad::kSame) {
      total = Wide{(p.in[d] - 1) / p.stride[d]} * p.stride[d] + reach + 1 - p.in[d];
      total = total < 0 ? 0 : total;
    }
    if (total > std::numeric_limits<int64_t>::max() / 4) {
      return invalid(str("conv problem: padding pad_", kIn[d],
                         " exceeds 2^61; use a smaller filter or dilation"));
    }
    const auto sum = static_cast<int64_t>(total);
    p.pad_lo[d] = pad == PartialProblem::Pad::kSame ? sum / 2 : sum;
    p.pad_hi[d] = sum - p.pad_lo[d];
  }
  return {};
}

std::string axes_text(const ConvProblem& p, std::string_view key,
                      const std::array<std::string, 3>& entries, std::string_view plain) {
  bool all_plain = true, all_equal = true;
  std::string joined;
  for (int d = p.first_axis(); d < 3; ++d) {
    all_plain = all_plain && entries[d] == plain;
    all_equal = all_equal && entries[d] == entries[2];
    joined += (joined.empty() ? "" : "x") + entries[d];
  }
  if (all_plain) return "";
  return str(" ", key, all_equal ? entries[2] : joined);
}

}  // namespace

Result<PartialProblem> parse_partial(std::string_view text) {
  return Parser().parse(text);
}

Result<ConvProblem> complete(const PartialProblem& partial) {
  ConvProblem p = partial.fields;
  const auto require = [](const std::optional<int64_t>& field, const std::string& letter,
                          int64_t& value) -> Status {
    if (!field) {
      return invalid(str(kWhat, letter, " is missing and has no default; add ", letter, "<int>"));
    }
    value = *field;
    return {};
  };
  if (Status s = require(partial.N, "n", p.N); !s.ok()) return s;
  if (Status s = require(partial.C, "c", p.C); !s.ok()) return s;
  if (Status s = require(partial.K, "k", p.K); !s.ok()) return s;
  p.G = partial.G.value_or(1);
  for (int d = p.first_axis(); d < 3; ++d) {
    if (Status s = require(partial.in[d], std::string(1, kIn[d]), p.in[d]); !s.ok()) return s;
    if (Status s = require(partial.filter[d], std::string(1, kFilter[d]), p.filter[d]); !s.ok()) {
      return s;
    }
  }
  if (partial.pad != PartialProblem::Pad::kNumbers) {
    for (int d = p.first_axis(); d < 3; ++d) {
      // Sizes below 1 are left for validate() to name.
      const bool sound = p.in[d] > 0 && p.filter[d] > 0 && p.stride[d] > 0 && p.dilation[d] > 0;
      if (!sound) return validate(p).ok() ? internal("unreachable padding rule") : validate(p);
    }
    if (Status s = resolve_pad(partial.pad, p); !s.ok()) return s;
  }
  if (Status s = validate(p); !s.ok()) return s;
  return p;
}

Result<ConvProblem> parse_problem(std::string_view text) {
  const Result<PartialProblem> partial = parse_partial(text);
  if (!partial) return partial.status();
  return complete(*partial);
}

std::string to_text(const ConvProblem& p) {
  std::string text =
      str("conv", p.rank, "d ", name(p.pass), " ", name(p.dtype), " n", p.N, " c", p.C, " k", p.K);
  if (p.G != 1) text += str(" g", p.G);
  for (int d = p.first_axis(); d < 3; ++d)
    text += str(" ", kIn[d], p.in[d]);
  for (int d = p.first_axis(); d < 3; ++d)
    text += str(" ", kFilter[d], p.filter[d]);
  std::array<std::string, 3> stride, dilation, pad;
  for (int d = 0; d < 3; ++d) {
    stride[d] = str(p.stride[d]);
    dilation[d] = str(p.dilation[d]);
    pad[d] = p.pad_lo[d] == p.pad_hi[d] ? str(p.pad_lo[d]) : str(p.pad_lo[d], ":", p.pad_hi[d]);
  }
  text += axes_text(p, "stride", stride, "1");
  text += axes_text(p, "pad", pad, "0");
  text += axes_text(p, "dil", dilation, "1");
  if (p.layout == Layout::kNhwc) text += " nhwc";
  if (p.bias == BiasType::kSame) text += " bias";
  if (p.bias == BiasType::kF32) text += " bias:f32";
  if (p.activation != Activation::kNone) text += str(" ", name(p.activation));
  return text;
}

}  // namespace convoy
