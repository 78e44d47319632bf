// Two records of one machine and suite, row by row, judged by the rows' own spread.
#pragma once

#include <convoy/status.h>

#include <string>
#include <string_view>
#include <vector>

namespace convoy::bench {

enum class Change { kSlower, kFaster, kSame, kGone, kNew };
const char* name(Change change);

// The medians differ by more than the larger p90 - p10 of the two, or are the same.
Change judge_change(double a_us, double b_us, double noise_us);

struct Delta {
  std::string problem, cache, impl;
  double a_us = 0, b_us = 0, noise_us = 0;  // NaN where a side has no time
  Change change = Change::kSame;
  double percent() const { return 100 * (b_us / a_us - 1); }
};

struct Comparison {
  std::string machine;
  std::vector<Delta> rows;  // the largest slow-down first
};

// kInvalid for a text that is no record, and for two machines or two sets of problems. The names
// are those of the files, for messages.
Result<Comparison> compare(std::string_view a, std::string_view b, const std::string& a_name,
                           const std::string& b_name);

}  // namespace convoy::bench
