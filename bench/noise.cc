// How much other processes used the machine while something was measured.
#include "bench/noise.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "launch/timer.h"

namespace convoy::bench {
namespace {

constexpr double kOtherShare = 0.05;
// /proc/stat counts ticks of 10 ms: below this many seconds it says nothing.
constexpr double kResolution = 0.1;

double seconds(const timeval& t) {
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
}

}  // namespace

std::optional<double> busy_seconds(std::string_view proc_stat, double ticks_per_second) {
  std::istringstream text{std::string(proc_stat)};
  std::string word;
  double user, nice, system, idle, iowait, irq, softirq, steal;
  text >> word >> user >> nice >> system >> idle >> iowait >> irq >> softirq >> steal;
  if (!text || word != "cpu") return std::nullopt;
  return (user + nice + system + irq + softirq + steal) / ticks_per_second;
}

CpuTimes cpu_times() {
  std::ifstream file("/proc/stat");
  std::string line;
  std::getline(file, line);
  rusage own{};
  getrusage(RUSAGE_SELF, &own);
  return {.wall_s = now_us() * 1e-6,
          .busy_s = busy_seconds(line, static_cast<double>(sysconf(_SC_CLK_TCK))).value_or(0),
          .own_s = seconds(own.ru_utime) + seconds(own.ru_stime)};
}

double load_average() {
  double load = 0;
  return getloadavg(&load, 1) == 1 ? load : 0;
}

int online_cpus() {
  return std::max(1, static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)));
}

Noise judge_noise(const CpuTimes& before, const CpuTimes& after, double load_before, int cpus) {
  const double other_s =
      std::max(0.0, (after.busy_s - before.busy_s) - (after.own_s - before.own_s));
  const double capacity_s = (after.wall_s - before.wall_s) * cpus;
  const double share = capacity_s > 0 ? other_s / capacity_s : 0;
  const bool burned = other_s > kResolution && share > kOtherShare;
  return {.other_share = share, .load = load_before, .noisy = burned || load_before > cpus};
}

}  // namespace convoy::bench
