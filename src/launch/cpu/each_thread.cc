// Runs one body on every thread of the pool at the same moment, and binds threads to CPUs.
#include "launch/cpu/each_thread.h"

#include <sched.h>

#include <atomic>
#include <utility>

#include "launch/cpu/parallel.h"
#include "launch/timer.h"

namespace convoy {
namespace {

constexpr double kPatienceUs = 20e3;

bool bind_to(const std::vector<int>& cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cpus)
    CPU_SET(static_cast<size_t>(cpu), &set);
  return !cpus.empty() && sched_setaffinity(0, sizeof set, &set) == 0;
}

}  // namespace

std::vector<int> allowed_cpus() {
  std::vector<int> cpus;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(static_cast<size_t>(cpu), &set)) cpus.push_back(cpu);
  }
  return cpus;
}

ScopedPin::ScopedPin(int cpu) : before_(allowed_cpus()), pinned_(cpu >= 0 && bind_to({cpu})) {}

ScopedPin::~ScopedPin() {
  if (pinned_) bind_to(before_);
}

void on_each_thread(int threads, const std::function<void(int)>& body) {
  std::atomic<int> arrived = 0;
  parallel_for(threads, threads, [&](int64_t i) {
    arrived.fetch_add(1);
    const double give_up = now_us() + kPatienceUs;
    while (arrived.load() < threads && now_us() < give_up) {
    }
    body(static_cast<int>(i));
  });
}

std::string pin_threads(const Device& device) {
  const int threads = device.info().threads;
  const std::vector<int> cpus = allowed_cpus();
  if (cpus.size() < static_cast<size_t>(threads)) return {};
  std::atomic<int> bound = 0;
  on_each_thread(threads, [&](int i) {
    ScopedPin pin(cpus[static_cast<size_t>(i)]);
    bound.fetch_add(pin.pinned() ? 1 : 0);
    pin.keep();
  });
  if (bound.load() < threads) return {};
  std::string names;
  for (int i = 0; i < threads; ++i)
    names += (i > 0 ? "," : "") + std::to_string(cpus[static_cast<size_t>(i)]);
  return names;
}

}  // namespace convoy
