// Names of instruction tiers and the interpolation of measured ceilings.
#include <convoy/device.h>

#include <cmath>

namespace convoy {
namespace {

constexpr const char* kIsaNames[] = {"baseline", "avx2", "avx512", "avx512bf16", "neon"};

}  // namespace

const char* name(Isa isa) {
  return kIsaNames[static_cast<int>(isa)];
}

std::optional<Isa> isa_from_name(std::string_view text) {
  for (int i = 0; i < 5; ++i) {
    if (text == kIsaNames[i]) return static_cast<Isa>(i);
  }
  return std::nullopt;
}

// Between two measured sizes the rate is interpolated over the logarithm of the size.
double Ceilings::copy_gbs(int64_t bytes) const {
  if (copy.empty()) return 1;
  if (bytes <= copy.front().bytes) return copy.front().gbs;
  for (size_t i = 1; i < copy.size(); ++i) {
    if (bytes > copy[i].bytes) continue;
    const double low = std::log2(static_cast<double>(copy[i - 1].bytes));
    const double high = std::log2(static_cast<double>(copy[i].bytes));
    const double at = (std::log2(static_cast<double>(bytes)) - low) / (high - low);
    return copy[i - 1].gbs + at * (copy[i].gbs - copy[i - 1].gbs);
  }
  return copy.back().gbs > copy_streaming_gbs ? copy.back().gbs : copy_streaming_gbs;
}

Device Device::with_ceilings(const Ceilings& ceilings) const {
  DeviceInfo info = *info_;
  info.ceilings = ceilings;
  info.measured = true;
  return Device(std::move(info));
}

}  // namespace convoy
