// Plans that were made, by problem, device and options; bounded, shared by threads.
#pragma once

#include <convoy/plan.h>

#include <list>
#include <mutex>
#include <optional>
#include <unordered_map>

namespace convoy {

struct PlanKey {
  ConvProblem problem;
  Device device;  // by identity: a copy of the device hits, a calibrated one is another
  PlanOptions options;
  bool operator==(const PlanKey& other) const;
};

struct PlanKeyHash {
  size_t operator()(const PlanKey& key) const;
};

class PlanCache {
 public:
  explicit PlanCache(size_t most) : most_(most) {}
  std::optional<Plan> find(const PlanKey& key);
  // The least recently used plan goes where there would be too many.
  void put(const PlanKey& key, const Plan& plan);
  void clear();
  size_t size();

 private:
  using Entry = std::pair<PlanKey, Plan>;
  std::mutex mutex_;
  size_t most_;
  std::list<Entry> entries_;  // most recently used first
  std::unordered_map<PlanKey, std::list<Entry>::iterator, PlanKeyHash> places_;
};

}  // namespace convoy
