// Steady-clock helpers and pinned pool threads, for measurements.
#pragma once

#include <convoy/device.h>

#include <chrono>
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

}  // namespace convoy
