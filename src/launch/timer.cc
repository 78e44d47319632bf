// GraphTimer passes its calls on to the backend's timer.
#include "launch/timer.h"

#include "base/str.h"
#include "launch/backend.h"

namespace convoy {

GraphTimer::GraphTimer(std::unique_ptr<StreamTimer> timer) : timer_(std::move(timer)) {}
GraphTimer::GraphTimer(GraphTimer&& other) noexcept = default;
GraphTimer& GraphTimer::operator=(GraphTimer&& other) noexcept = default;
GraphTimer::~GraphTimer() = default;

Result<GraphTimer> GraphTimer::create(const Device& device) {
  const auto functions = backend_functions(device.info().id.backend);
  if (!functions) return functions.status();
  if ((*functions)->timer == nullptr) {
    return unsupported(str("timer: device ", device.info().name, " has no graphs"));
  }
  auto timer = (*functions)->timer(device.info().id.index);
  if (!timer) return timer.status();
  return GraphTimer(*std::move(timer));
}

Stream GraphTimer::stream() const {
  return timer_->stream();
}

Status GraphTimer::capture(int64_t calls, const std::function<Status(Stream, int64_t)>& call) {
  return timer_->capture([&](Stream stream) {
    for (int64_t i = 0; i < calls; ++i) {
      if (Status s = call(stream, i); !s.ok()) return s;
    }
    return Status();
  });
}

Result<double> GraphTimer::replay_us() {
  return timer_->replay_us();
}

Result<double> GraphTimer::stream_us(const std::function<Status(Stream)>& work) {
  return timer_->stream_us(work);
}

}  // namespace convoy
