// A small seeded generator: the same draws on every machine and standard library.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <span>

namespace convoy::test {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  // SplitMix64 (Steele, Lea, Flood 2014).
  uint64_t next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15U);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
  }
  // Uniform in [lo, hi].
  int64_t between(int64_t lo, int64_t hi) {
    return lo + static_cast<int64_t>(next() % static_cast<uint64_t>(hi - lo + 1));
  }
  bool chance(double p) { return unit() < p; }
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  int64_t log_between(int64_t lo, int64_t hi) {
    const double a = std::log(static_cast<double>(lo)), b = std::log(static_cast<double>(hi) + 1);
    const auto value = static_cast<int64_t>(std::exp(a + unit() * (b - a)));
    return value < lo ? lo : value > hi ? hi : value;
  }
  template <class T, size_t Count>
  T pick(const std::array<T, Count>& from) {
    return from[static_cast<size_t>(between(0, Count - 1))];
  }
  template <class T>
  T pick(std::initializer_list<T> from) {
    return from.begin()[between(0, static_cast<int64_t>(from.size()) - 1)];
  }

 private:
  uint64_t state_;
};

}  // namespace convoy::test
