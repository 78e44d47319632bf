// Whole-file reading with a size bound, and writing that happens completely or not at all.
#pragma once

#include <convoy/status.h>

#include <string>
#include <string_view>

namespace convoy::cli {

// kInvalid with the path and the reason; `what` names the role of the file in messages.
Result<std::string> read_file(const std::string& path, std::string_view what);

// Writes beside the target and renames; a full disk or an unwritable folder leaves the old file.
// Device files such as /dev/stdout are written in place.
Status write_file(const std::string& path, std::string_view bytes, std::string_view what);

}  // namespace convoy::cli
