// A list in order of use and a table into it.
#include "plan/plan_cache.h"

namespace convoy {
namespace {

class Hash {
 public:
  void add(uint64_t value) {  // splitmix64's mixing (Vigna 2015) over a running state
    state_ = (state_ ^ value) * 0xbf58476d1ce4e5b9;
    state_ ^= state_ >> 29;
  }
  template <size_t kCount>
  void add(const std::array<int64_t, kCount>& values) {
    for (const int64_t value : values)
      add(static_cast<uint64_t>(value));
  }
  uint64_t state() const { return state_; }

 private:
  uint64_t state_ = 0x9e3779b97f4a7c15;
};

}  // namespace

bool PlanKey::operator==(const PlanKey& other) const {
  return &device.info() == &other.device.info() && problem == other.problem &&
         options.kernel == other.options.kernel &&
         options.deterministic == other.options.deterministic;
}

size_t PlanKeyHash::operator()(const PlanKey& key) const {
  const ConvProblem& p = key.problem;
  Hash hash;
  for (const int64_t size : {p.N, p.C, p.K, p.G})
    hash.add(static_cast<uint64_t>(size));
  for (const auto* axes : {&p.in, &p.filter, &p.stride, &p.pad_lo, &p.pad_hi, &p.dilation})
    hash.add(*axes);
  const auto small = static_cast<uint64_t>(p.rank) << 40 | static_cast<uint64_t>(p.pass) << 32 |
                     static_cast<uint64_t>(p.dtype) << 24 | static_cast<uint64_t>(p.layout) << 16 |
                     static_cast<uint64_t>(p.bias) << 8 | static_cast<uint64_t>(p.activation);
  hash.add(small);
  hash.add(reinterpret_cast<uintptr_t>(&key.device.info()));
  hash.add(key.options.deterministic ? 1 : 0);
  hash.add(std::hash<std::string>()(key.options.kernel));
  return hash.state();
}

std::optional<Plan> PlanCache::find(const PlanKey& key) {
  const std::lock_guard lock(mutex_);
  const auto found = places_.find(key);
  if (found == places_.end()) return std::nullopt;
  entries_.splice(entries_.begin(), entries_, found->second);
  return found->second->second;
}

void PlanCache::put(const PlanKey& key, const Plan& plan) {
  const std::lock_guard lock(mutex_);
  if (places_.count(key) != 0) return;  // another thread was first
  if (entries_.size() >= most_) {
    places_.erase(entries_.back().first);
    entries_.pop_back();
  }
  entries_.emplace_front(key, plan);
  places_[key] = entries_.begin();
}

void PlanCache::clear() {
  const std::lock_guard lock(mutex_);
  places_.clear();
  entries_.clear();
}

size_t PlanCache::size() {
  const std::lock_guard lock(mutex_);
  return entries_.size();
}

}  // namespace convoy
