// Two processes that fill one empty cache folder at once, and a third that finds it full.
#include "base/str.h"
#include "device/child.h"
#include "device/mode.h"
#include "launch/timer.h"

namespace convoy::test {

ModeReport run_two_processes(const Context& context) {
  ModeReport report{.mode = "two-processes"};
  const CacheFolder cache;
  const std::vector<std::string> arguments = {
      "--sweep",  "--configurations",  "6",      "--draws",
      "3",        "--threads",         "4",      "--some-kernels",
      "--device", context.device_name, "--seed", std::to_string(context.seed + 77)};
  const auto judge = [&](const char* which, Child& child) {
    const int code = child.wait();
    ++report.runs;
    if (code != 0)
      report.failures.push_back(str(which, " ended with ", code, ": ", child.output()));
  };
  const double start = now_us();
  Child first(arguments, cache, "first.txt"), second(arguments, cache, "second.txt");
  judge("the first", first);
  judge("the second", second);
  const double cold_us = now_us() - start;
  Child third(arguments, cache, "third.txt");
  judge("the third", third);
  report.facts = {{"cold_ms", cold_us / 1e3}, {"full_ms", (now_us() - start - cold_us) / 1e3}};
  return report;
}

}  // namespace convoy::test
