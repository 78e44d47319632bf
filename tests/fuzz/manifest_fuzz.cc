// Any bytes as one file of the manifest end in a manifest or in faults with their lines.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "manifest/embedded.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr size_t kMost = 1 << 14;
  if (size == 0 || size > kMost) return -1;
  // The first byte says which file of the good manifest the others replace.
  static const std::vector<convoy::manifest::File> kGood = convoy::manifest::embedded();
  std::vector<convoy::manifest::File> files(kGood.begin(), kGood.begin() + 3);
  files[data[0] % files.size()].text.assign(reinterpret_cast<const char*>(data + 1), size - 1);
  std::vector<convoy::manifest::Fault> faults;
  convoy::manifest::read(files, faults);
  for (const convoy::manifest::Fault& fault : faults) {
    if (fault.message.empty() || fault.message.find('\n') != std::string::npos) std::abort();
  }
  return 0;
}
