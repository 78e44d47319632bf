// How much other processes used the machine while something was measured.
#pragma once

#include <optional>
#include <string_view>

namespace convoy::bench {

// Seconds of CPU time so far.
struct CpuTimes {
  double wall_s = 0;
  double busy_s = 0;  // of the whole machine, time stolen by its neighbours included
  double own_s = 0;   // of this process
};

// The first line of /proc/stat as busy seconds; nothing where it is not one.
std::optional<double> busy_seconds(std::string_view proc_stat, double ticks_per_second);

CpuTimes cpu_times();
double load_average();  // over the last minute
int online_cpus();      // of the machine, whatever this process may use

struct Noise {
  double other_share = 0;  // of all CPUs, burned by others
  double load = 0;         // before the run
  bool noisy = false;
};

// Noisy: others burned over 5 % of the CPUs, or more processes than CPUs were runnable before.
Noise judge_noise(const CpuTimes& before, const CpuTimes& after, double load_before, int cpus);

}  // namespace convoy::bench
