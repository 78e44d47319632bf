// Overlap of strided views, as a search for a solution of one linear equation in small digits.
#include "plan/overlap.h"

#include <algorithm>

#include "base/int_math.h"

namespace convoy {
namespace {

// sum digit_i * step_i == target with lo_i <= digit_i <= hi_i, in bytes.
struct Digit {
  int64_t step, lo, hi;
};

class Search {
 public:
  void add(Digit digit) {
    if (digit.step == 0 || digit.lo == digit.hi) return;
    if (digit.step < 0) digit = {-digit.step, -digit.hi, -digit.lo};
    digits_[count_++] = digit;
  }

  // `nonzero` asks for a solution whose digits are not all zero.
  bool reaches(int64_t target, bool nonzero) {
    std::sort(digits_.begin(), digits_.begin() + count_,
              [](const Digit& a, const Digit& b) { return a.step > b.step; });
    for (int i = count_; i-- > 0;) {
      low_[i] = low_[i + 1] + digits_[i].lo * digits_[i].step;
      high_[i] = high_[i + 1] + digits_[i].hi * digits_[i].step;
    }
    return walk(target, nonzero, 0);
  }

 private:
  // The largest step is tried first: what the smaller ones can reach leaves few values for it.
  bool walk(int64_t target, bool nonzero, int i) {
    if (target < low_[i] || target > high_[i]) return false;
    if (i == count_) return target == 0 && !nonzero;
    const Digit& d = digits_[i];
    const int64_t from = std::max(d.lo, ceil_div(target - high_[i + 1], d.step));
    const int64_t to = std::min(d.hi, floor_div(target - low_[i + 1], d.step));
    for (int64_t digit = from; digit <= to; ++digit) {
      if (--budget_ < 0) return true;
      if (walk(target - digit * d.step, nonzero && digit == 0, i + 1)) return true;
    }
    return false;
  }

  static constexpr int kDigits = 2 * kMaxRank + 2;
  std::array<Digit, kDigits> digits_ = {};
  std::array<int64_t, kDigits + 1> low_ = {}, high_ = {};
  int count_ = 0;
  int64_t budget_ = 20000;
};

struct Range {
  int64_t first, last;  // bytes
};

Range byte_range(const TensorView& v) {
  Range range{reinterpret_cast<intptr_t>(v.data), reinterpret_cast<intptr_t>(v.data)};
  for (int i = 0; i < v.rank; ++i) {
    const int64_t reach = v.strides[i] * (v.sizes[i] - 1) * size_of(v.dtype);
    (reach < 0 ? range.first : range.last) += reach;
  }
  range.last += size_of(v.dtype) - 1;
  return range;
}

}  // namespace

bool overlaps(const TensorView& a, const TensorView& b) {
  if (a.elements() == 0 || b.elements() == 0) return false;
  const Range ra = byte_range(a), rb = byte_range(b);
  if (ra.last < rb.first || rb.last < ra.first) return false;
  Search search;
  for (int i = 0; i < a.rank; ++i)
    search.add({a.strides[i] * size_of(a.dtype), 0, a.sizes[i] - 1});
  for (int i = 0; i < b.rank; ++i)
    search.add({b.strides[i] * size_of(b.dtype), 1 - b.sizes[i], 0});
  search.add({1, 1 - size_of(b.dtype), size_of(a.dtype) - 1});
  return search.reaches(reinterpret_cast<intptr_t>(b.data) - reinterpret_cast<intptr_t>(a.data),
                        false);
}

bool self_overlaps(const TensorView& v) {
  if (v.elements() <= 1) return false;
  Search search;
  for (int i = 0; i < v.rank; ++i) {
    if (v.sizes[i] == 1) continue;
    if (v.strides[i] == 0) return true;
    search.add({v.strides[i], 1 - v.sizes[i], v.sizes[i] - 1});
  }
  return search.reaches(0, true);
}

}  // namespace convoy
