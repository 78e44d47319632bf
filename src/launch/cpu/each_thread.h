// Runs one body on every thread of the pool at the same moment, each on a CPU of its own.
#pragma once

#include <functional>
#include <vector>

namespace convoy {

// The CPUs that the calling thread may use, rising.
std::vector<int> allowed_cpus();

// Binds the calling thread to one CPU while it lives; to none where `cpu` is negative.
class ScopedPin {
 public:
  explicit ScopedPin(int cpu);
  ~ScopedPin();
  ScopedPin(const ScopedPin&) = delete;
  ScopedPin& operator=(const ScopedPin&) = delete;
  bool pinned() const { return pinned_; }
  void keep() { pinned_ = false; }  // stay bound after this object

 private:
  std::vector<int> before_;
  bool pinned_;
};

// Calls body(i) for i in [0, threads) through parallel_for. The bodies wait for each other before
// they start, but not for ever: a pool with fewer threads runs some of them later.
void on_each_thread(int threads, const std::function<void(int)>& body);

}  // namespace convoy
