// How `convoy run` ends: files where the check allows them, the report, the exit code.
#pragma once

#include <convoy/convoy.h>

#include <optional>
#include <span>
#include <string>

#include "command.h"

namespace convoy::cli {

struct RunOutcome {
  std::string problem, kernel, device;
  double time_us = 0;
  std::optional<CheckReport> check;  // with --check
};

// A result on the host and the option that names its file.
struct ResultFile {
  std::string path;
  TensorView view;
  const char* option;
};

// Writes all files or none, and none after a failed check; then prints. Gives the exit code.
Result<int> finish_run(const RunOutcome& outcome, std::span<const ResultFile> files,
                       const Common& common);

}  // namespace convoy::cli
