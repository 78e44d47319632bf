// Names of instruction tiers and the interpolation of measured ceilings.
#include <convoy/device.h>

#include <algorithm>
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

// Between two measured sizes the rate is interpolated over the logarithm of the size. A copy of any
// size may use non-temporal stores, so no rate is below theirs.
double Ceilings::copy_gbs(int64_t bytes) const {
  if (copy.empty()) return copy_streaming_gbs > 0 ? copy_streaming_gbs : 1;
  double gbs = bytes <= copy.front().bytes ? copy.front().gbs : copy.back().gbs;
  for (size_t i = 1; i < copy.size(); ++i) {
    if (bytes <= copy[i - 1].bytes || bytes > copy[i].bytes) continue;
    const double low = std::log2(static_cast<double>(copy[i - 1].bytes));
    const double high = std::log2(static_cast<double>(copy[i].bytes));
    const double at = (std::log2(static_cast<double>(bytes)) - low) / (high - low);
    gbs = copy[i - 1].gbs + at * (copy[i].gbs - copy[i - 1].gbs);
  }
  return std::max(gbs, copy_streaming_gbs);
}

Device Device::with_ceilings(const Ceilings& ceilings) const {
  DeviceInfo info = *info_;
  info.ceilings = ceilings;
  info.measured = true;
  return Device(std::move(info));
}

}  // namespace convoy
