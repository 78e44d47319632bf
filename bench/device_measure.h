// The harness on a GPU: checked warm and cold rows from replayed graphs.
#pragma once

#include <memory>

#include "bench/measure.h"
#include "bench/suites.h"

namespace convoy::bench {

class DeviceHarness {
 public:
  static Result<DeviceHarness> create(const Device& device);
  DeviceHarness(DeviceHarness&& other) noexcept;
  DeviceHarness& operator=(DeviceHarness&& other) noexcept;
  ~DeviceHarness();

  // Compiles what the cases will run, on `threads` threads, so that no measurement waits for it.
  // What fails here fails again, and is reported, in measure().
  void compile_ahead(const std::vector<Case>& cases, const MeasureOptions& options, int threads);

  // Rows in the order warm, cold. A failed check gives one row that says so, without times.
  Result<std::vector<Row>> measure(const ConvProblem& problem, const std::string& workload,
                                   const MeasureOptions& options);

 private:
  struct State;
  explicit DeviceHarness(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace convoy::bench
