// The one way in which errors leave the tool: a line on stderr, and a document for --json.
#pragma once

#include <convoy/status.h>

#include <string_view>

namespace convoy::cli {

// Prints `convoy: <message>` and, with `json`, the error document; gives `exit` back.
int report_error(int exit, std::string_view kind, std::string_view message, bool json);
// The exit code of an error Status, after reporting it.
int report_error(const Status& status, bool json);

}  // namespace convoy::cli
