// Values made once per key and shared by threads; bounded, the least recently used go first.
#pragma once

#include <convoy/status.h>

#include <cstdint>
#include <future>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

namespace convoy {

template <class Key, class Value>
class MemoryCache {
 public:
  struct Made {
    Value value;
    int64_t bytes = 0;  // what it counts towards the bound
  };

  MemoryCache(size_t most_entries, int64_t most_bytes)
      : most_entries_(most_entries), most_bytes_(most_bytes) {}

  // The value if it is there, or once it is made if it is on its way.
  std::optional<Result<Value>> find(const Key& key) {
    std::shared_future<Result<Value>> future;
    {
      const std::lock_guard lock(mutex_);
      const auto found = slots_.find(key);
      if (found == slots_.end()) return std::nullopt;
      uses_.splice(uses_.end(), uses_, found->second.use);
      future = found->second.future;
    }
    return future.get();
  }

  // As find(), else `make()`s a Result<Made>: one thread does, those that ask for the same key wait
  // for it, those that ask for another do not. A failure is told to all who waited and forgotten.
  template <class Make>
  Result<Value> get(const Key& key, const Make& make) {
    std::promise<Result<Value>> promise;
    if (const auto other = claim(key, promise)) return other->get();
    Result<Made> made = make();
    if (!made) {
      forget(key);
      promise.set_value(made.status());
      return made.status();
    }
    promise.set_value(made->value);
    keep(key, made->bytes);
    return made->value;
  }

  size_t size() {
    const std::lock_guard lock(mutex_);
    return slots_.size();
  }

 private:
  struct Slot {
    std::shared_future<Result<Value>> future;
    typename std::list<Key>::iterator use;
    bool made = false;
    int64_t bytes = 0;
  };

  // The future of another thread that has or makes the value; nothing: the caller must make it.
  std::optional<std::shared_future<Result<Value>>> claim(const Key& key,
                                                         std::promise<Result<Value>>& promise) {
    const std::lock_guard lock(mutex_);
    if (const auto found = slots_.find(key); found != slots_.end()) {
      uses_.splice(uses_.end(), uses_, found->second.use);
      return found->second.future;
    }
    slots_[key] = {promise.get_future().share(), uses_.insert(uses_.end(), key)};
    return std::nullopt;
  }

  void forget(const Key& key) {
    const std::lock_guard lock(mutex_);
    erase(slots_.find(key));
  }

  // Slots that are still being made stay: their makers look for them again.
  void keep(const Key& key, int64_t bytes) {
    const std::lock_guard lock(mutex_);
    Slot& slot = slots_.find(key)->second;
    slot.made = true;
    slot.bytes = bytes;
    bytes_ += bytes;
    for (auto use = uses_.begin(); use != uses_.end() && is_over();) {
      const auto oldest = slots_.find(*use++);
      if (oldest->second.made) erase(oldest);
    }
  }

  bool is_over() const { return slots_.size() > most_entries_ || bytes_ > most_bytes_; }

  void erase(typename std::map<Key, Slot>::iterator slot) {
    bytes_ -= slot->second.bytes;
    uses_.erase(slot->second.use);
    slots_.erase(slot);
  }

  const size_t most_entries_;
  const int64_t most_bytes_;
  std::mutex mutex_;
  std::map<Key, Slot> slots_;
  std::list<Key> uses_;  // least recently used first
  int64_t bytes_ = 0;
};

}  // namespace convoy
