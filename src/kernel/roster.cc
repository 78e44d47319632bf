// TEMPORARY roster until the generator lands.
#include "kernel/kernel.h"

namespace convoy {
extern const Kernel cpu_reference_fprop, cpu_reference_dgrad, cpu_reference_wgrad, cpu_channel_lanes_fprop, cpu_broadcast_fprop;
namespace {
const RosterRow kRows[] = {
    {"cpu_broadcast_fprop", &cpu_broadcast_fprop, Backend::kCpu, 1, 15, 2, false},
    {"cpu_channel_lanes_fprop", &cpu_channel_lanes_fprop, Backend::kCpu, 1, 15, 2, false},
    {"cpu_reference_fprop", &cpu_reference_fprop, Backend::kCpu, 1, 15, 3, true},
    {"cpu_reference_dgrad", &cpu_reference_dgrad, Backend::kCpu, 2, 15, 3, true},
    {"cpu_reference_wgrad", &cpu_reference_wgrad, Backend::kCpu, 4, 15, 3, true},
};
}  // namespace
std::span<const RosterRow> roster() {
  return kRows;
}
}  // namespace convoy
