// Fibers as the threads of a block: who waits where, and what each started to copy.
#include <algorithm>
#include <boost/context/fiber.hpp>
#include <boost/context/fixedsize_stack.hpp>
#include <deque>
#include <exception>
#include <memory>
#include <random>
#include <stdexcept>
#include <vector>

#include "base/str.h"
#include "kernel/gpu/device/lang_host.h"

namespace convoy::emulator {
namespace {

namespace context = boost::context;

enum class Wait { kNothing, kWarp, kBlock, kForEver };

struct Copy {
  void* to;
  const void* from;
  u32 bytes;
  bool valid;
};

struct Thread {
  context::fiber fiber;
  context::fiber scheduler;
  Wait wait = Wait::kNothing;
  std::vector<Copy> open;
  std::deque<std::vector<Copy>> groups;
};

class Block {
 public:
  Block(u32 index, u32 blocks, u32 count, u32 shared_bytes, u64 seed)
      : place_{0, index, blocks}, threads_(count), slots_(count), votes_(count), random_(seed) {
    shared_.resize(shared_bytes / 128 + 2);
    std::memset(shared_.data(), 0xFF, shared_.size() * 128);
    for (u32 warp = 0; warp * 32 < count; ++warp)
      pace_.push_back(random_() % 2 == 0 ? kPaces : 1);
  }

  void run(const std::function<void()>& kernel) {
    for (u32 i = 0; i < threads_.size(); ++i) {
      threads_[i].fiber = context::fiber(std::allocator_arg, context::fixedsize_stack(256 << 10),
                                         [this, i, &kernel](context::fiber&& scheduler) {
                                           threads_[i].scheduler = std::move(scheduler);
                                           try {
                                             kernel();
                                           } catch (const std::logic_error&) {
                                             fault_ = std::current_exception();
                                           }
                                           finish_copies(threads_[i], 0);
                                           threads_[i].wait = Wait::kForEver;
                                           return std::move(threads_[i].scheduler);
                                         });
    }
    std::vector<u32> ready(threads_.size());
    for (u32 i = 0; i < ready.size(); ++i)
      ready[i] = i;
    while (!ready.empty()) {
      std::shuffle(ready.begin(), ready.end(), random_);
      for (const u32 i : ready) {
        place_.thread = i;
        threads_[i].fiber = std::move(threads_[i].fiber).resume();
        if (fault_) std::rethrow_exception(fault_);
      }
      ready = released();
    }
  }

  Place place() const { return place_; }
  void* shared() { return shared_.data(); }
  void* slot(u32 thread) { return slots_[thread].data(); }
  std::vector<u8>& votes() { return votes_; }
  Thread& thread() { return threads_[place_.thread]; }

  // Back to the scheduler until the others have come.
  void wait(Wait what) {
    Thread& self = thread();
    self.wait = what;
    self.scheduler = std::move(self.scheduler).resume();
  }

  static void finish_copies(Thread& thread, size_t left) {
    while (thread.groups.size() > left) {
      for (const Copy& copy : thread.groups.front()) {
        if (copy.valid) {
          std::memcpy(copy.to, copy.from, copy.bytes);
        } else {
          std::memset(copy.to, 0, copy.bytes);
        }
      }
      thread.groups.pop_front();
    }
  }

 private:
  // The threads whose barrier is complete; empty when all have ended.
  std::vector<u32> released() {
    std::vector<u32> ready, waiting_warps;
    size_t at_block = 0, ended = 0;
    for (u32 warp = 0; warp * 32 < threads_.size(); ++warp) {
      u32 waiting = 0;
      const u32 first = warp * 32,
                last = std::min<u32>(first + 32, static_cast<u32>(threads_.size()));
      for (u32 i = first; i < last; ++i) {
        waiting += threads_[i].wait == Wait::kWarp;
        at_block += threads_[i].wait == Wait::kBlock;
        ended += threads_[i].wait == Wait::kForEver;
      }
      if (waiting == 0) continue;
      if (waiting != last - first) throw std::logic_error("emulator: a lane left its warp alone");
      waiting_warps.push_back(warp);
    }
    if (!waiting_warps.empty()) return some_of(waiting_warps);
    if (at_block != 0 && at_block + ended == threads_.size()) {
      for (u32 i = 0; i < threads_.size(); ++i) {
        if (threads_[i].wait == Wait::kBlock) ready.push_back(i);
      }
    }
    if (ready.empty() && ended != threads_.size()) {
      throw std::logic_error("emulator: some threads wait at a barrier that others passed by");
    }
    return ready;
  }

  // The threads of some warps. Each warp has a pace of its own, so that one may run far ahead where
  // no barrier of the block holds it.
  std::vector<u32> some_of(const std::vector<u32>& warps) {
    std::vector<u32> ready;
    const u32 chosen = warps[random_() % warps.size()];
    for (const u32 warp : warps) {
      if (warp != chosen && random_() % kPaces >= pace_[warp]) continue;
      for (u32 i = warp * 32; i < warp * 32 + 32 && i < threads_.size(); ++i)
        ready.push_back(i);
    }
    return ready;
  }

  static constexpr u32 kPaces = 16;
  Place place_;
  std::vector<Thread> threads_;
  std::vector<std::array<u8, 64>> slots_;
  std::vector<u8> votes_;
  struct alignas(128) Line {
    u8 bytes[128];
  };
  std::vector<Line> shared_;
  std::mt19937_64 random_;
  std::exception_ptr fault_;
  std::vector<u32> pace_;  // of each warp, of kPaces
};

thread_local Block* current = nullptr;

}  // namespace

void run(u32 blocks, u32 threads, u32 shared_bytes, const std::function<void()>& kernel, u64 seed) {
  for (u32 i = 0; i < blocks; ++i) {
    Block block(i, blocks, threads, shared_bytes, seed + i);
    current = &block;
    block.run(kernel);
    current = nullptr;
  }
}

Place here() {
  return current->place();
}
void* shared() {
  return current->shared();
}
void wait_for_block() {
  current->wait(Wait::kBlock);
}
void wait_for_warp() {
  current->wait(Wait::kWarp);
}
void* lane_slot(u32 lane) {
  return current->slot(here().thread / 32 * 32 + lane);
}

bool any_vote(bool value) {
  current->votes()[here().thread] = value ? 1 : 0;
  wait_for_block();
  bool any = false;
  for (const u8 vote : current->votes())
    any = any || vote != 0;
  wait_for_block();
  return any;
}

void check_aligned(const void* p, u32 bytes) {
  const auto address = reinterpret_cast<uintptr_t>(p);
  if (address % bytes == 0) return;
  const Place at = here();
  throw std::logic_error(str("emulator: thread ", at.thread, " of block ", at.block, " moves ",
                             bytes, " bytes at address ", address, ", which is no multiple"));
}

void start_copy(void* shared, const void* global, u32 bytes, bool valid) {
  std::memset(shared, 0xFF, bytes);
  current->thread().open.push_back({shared, global, bytes, valid});
}
void commit() {
  Thread& thread = current->thread();
  thread.groups.push_back(std::move(thread.open));
  thread.open.clear();
}
void finish_copies(u32 left) {
  Block::finish_copies(current->thread(), left);
}

}  // namespace convoy::emulator
