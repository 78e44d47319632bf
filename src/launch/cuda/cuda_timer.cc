// Captures work into a graph and times its replays with events.
#include "launch/cuda/cuda_timer.h"

#include "base/str.h"
#include "launch/cuda/driver.h"

namespace convoy::cuda {
namespace {

class CudaTimer final : public StreamTimer {
 public:
  explicit CudaTimer(int index) : index_(index) {}
  ~CudaTimer() override;
  CudaTimer(const CudaTimer&) = delete;
  CudaTimer& operator=(const CudaTimer&) = delete;

  Status start();
  Stream stream() const override { return {stream_}; }
  Status capture(const std::function<Status(Stream)>& work) override;
  Result<double> replay_us() override;
  Result<double> stream_us(const std::function<Status(Stream)>& work) override;

 private:
  int index_;
  CUstream stream_ = nullptr;
  CUevent begin_ = nullptr, end_ = nullptr;
  CUgraphExec graph_ = nullptr;
};

CudaTimer::~CudaTimer() {
  const ScopedContext scope(index_);
  if (!scope.status().ok()) return;
  const Driver& driver = scope.driver();
  if (graph_ != nullptr) driver.graph_exec_destroy(graph_);
  if (begin_ != nullptr) driver.event_destroy(begin_);
  if (end_ != nullptr) driver.event_destroy(end_);
  if (stream_ != nullptr) driver.stream_destroy(stream_);
}

Status CudaTimer::start() {
  const ScopedContext scope(index_);
  if (!scope.status().ok()) return scope.status();
  const Driver& driver = scope.driver();
  CUresult result = driver.stream_create(&stream_, kStreamNonBlocking);
  if (result == kSuccess) result = driver.event_create(&begin_, 0);
  if (result == kSuccess) result = driver.event_create(&end_, 0);
  return error_status(driver, result, str("timer on cuda:", index_));
}

Status CudaTimer::capture(const std::function<Status(Stream)>& work) {
  const ScopedContext scope(index_);
  if (!scope.status().ok()) return scope.status();
  const Driver& driver = scope.driver();
  if (graph_ != nullptr) driver.graph_exec_destroy(graph_);
  graph_ = nullptr;
  CUresult result = driver.begin_capture(stream_, kCaptureThreadLocal);
  if (result != kSuccess) return error_status(driver, result, "begin of a capture");
  Status worked = work(stream());
  CUgraph graph = nullptr;
  result = driver.end_capture(stream_, &graph);
  if (worked.ok() && result == kSuccess) {
    result = driver.graph_instantiate(&graph_, graph, 0);
  }
  if (graph != nullptr) driver.graph_destroy(graph);
  if (!worked.ok()) return worked;
  return error_status(driver, result, "capture of a graph");
}

Result<double> CudaTimer::replay_us() {
  if (graph_ == nullptr) return internal("timer: nothing was captured");
  return stream_us([this](Stream) {
    const Driver& driver = *cuda::driver();
    return error_status(driver, driver.graph_launch(graph_, stream_), "replay of a graph");
  });
}

Result<double> CudaTimer::stream_us(const std::function<Status(Stream)>& work) {
  const ScopedContext scope(index_);
  if (!scope.status().ok()) return scope.status();
  const Driver& driver = scope.driver();
  CUresult result = driver.event_record(begin_, stream_);
  if (result != kSuccess) return error_status(driver, result, "event of a timer");
  if (Status s = work(stream()); !s.ok()) return s;
  float ms = 0;
  result = driver.event_record(end_, stream_);
  if (result == kSuccess) result = driver.event_synchronize(end_);
  if (result == kSuccess) result = driver.event_elapsed(&ms, begin_, end_);
  if (result != kSuccess) return error_status(driver, result, "timed work");
  return static_cast<double>(ms) * 1e3;
}

}  // namespace

Result<std::unique_ptr<StreamTimer>> make_timer(int index) {
  auto timer = std::make_unique<CudaTimer>(index);
  if (Status s = timer->start(); !s.ok()) return s;
  return std::unique_ptr<StreamTimer>(std::move(timer));
}

}  // namespace convoy::cuda
