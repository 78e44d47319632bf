// The manifest that this build was made from, compiled in.
#include "manifest/embedded.h"

namespace convoy::manifest {

std::vector<File> embedded() {
  std::vector<File> out;
  for (const EmbeddedFile& file : embedded_files()) {
    File& copy = out.emplace_back(File{.path = std::string(file.path)});
    for (const std::string_view line : file.lines)
      copy.text += line;
  }
  return out;
}

}  // namespace convoy::manifest
