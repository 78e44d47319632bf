// The manifest that this build was made from, compiled in: list, show and validate need no folder.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "manifest/manifest.h"

namespace convoy::manifest {

struct EmbeddedFile {
  std::string_view path;
  std::span<const std::string_view> lines;  // each with its line end
};
std::span<const EmbeddedFile> embedded_files();  // generated

// The same as load() gave the generator.
std::vector<File> embedded();

}  // namespace convoy::manifest
