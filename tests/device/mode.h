// The modes of the device test: each runs on one device and says what failed.
#pragma once

#include <convoy/convoy.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace convoy::test {

struct Context {
  Device device;
  std::string device_name = "cuda";  // for child processes
  int64_t configurations = 500, draws = 100;
  double seconds = 60;  // no mode starts new work after this long
  int threads = 16;
  bool every_kernel = true;  // a kernel of the backend that never ran is a failure
  uint64_t seed = 1;
};

struct ModeReport {
  std::string mode;
  int64_t runs = 0;
  std::vector<std::string> failures;  // each with the text of its problem and its seed
  nlohmann::ordered_json facts;       // counts and times, for the record
  bool ok() const { return failures.empty() && runs > 0; }
};

// Random problems by compiled configuration, on context.device.
ModeReport sweep(const Context& context, const char* mode);
// A sweep that demands every kernel of the backend.
ModeReport run_configurations(const Context& context);
// The same with an index limit of a few hundred elements, and one tensor past 2^31 elements.
ModeReport run_big_offsets(const Context& context);
// Every field case that the device has a kernel for.
ModeReport run_field_cases(const Context& context);
// Captured calls replayed on new data; a plan asked for inside a capture.
ModeReport run_capture(const Context& context);
// Shared plans from several threads, each on a stream of its own.
ModeReport run_streams(const Context& context);
// The first call of a process, for a child of run_host_path().
ModeReport run_first_call(const Context& context);
// What a call costs the host.
ModeReport run_host_path(const Context& context);
// Two processes that fill one empty cache folder at once.
ModeReport run_two_processes(const Context& context);

}  // namespace convoy::test
