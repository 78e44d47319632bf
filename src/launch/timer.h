// Clocks for measurements: the host's, a device's over graph replays; and pinned pool threads.
#pragma once

#include <convoy/device.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>

namespace convoy {

// Microseconds of the steady clock since an arbitrary start.
inline double now_us() {
  using Us = std::chrono::duration<double, std::micro>;
  return Us(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Binds each thread of the device's pool to one CPU for the rest of the process and names the
// CPUs: "0,1". Empty where some thread could not be bound.
std::string pin_threads(const Device& device);

class StreamTimer;

// Times work on a GPU with the device's own clock, on a stream that it creates and owns.
class GraphTimer {
 public:
  // kUnsupported on a device without graphs: time it with now_us().
  static Result<GraphTimer> create(const Device& device);
  GraphTimer(GraphTimer&& other) noexcept;
  GraphTimer& operator=(GraphTimer&& other) noexcept;
  ~GraphTimer();

  Stream stream() const;
  // Captures call(stream, i) for i in [0, calls) into one graph, which replaces the last one. The
  // first error of a call is the answer. What runs first must have run once before, so that
  // nothing is loaded inside the capture.
  Status capture(int64_t calls, const std::function<Status(Stream, int64_t)>& call);
  // Microseconds of one replay of the graph, from the device's events around it; waits for it.
  Result<double> replay_us();
  // Microseconds of plain work on the stream, from the device's events around it; waits for it.
  Result<double> stream_us(const std::function<Status(Stream)>& work);

 private:
  explicit GraphTimer(std::unique_ptr<StreamTimer> timer);
  std::unique_ptr<StreamTimer> timer_;
};

}  // namespace convoy
