// All files of a run are staged before the first appears.
#include "run_result.h"

#include <fmt/format.h>

#include <vector>

#include "files.h"
#include "npy.h"
#include "output.h"

namespace convoy::cli {
namespace {

Status write_results(std::span<const ResultFile> files) {
  std::vector<StagedFile> staged;
  for (const ResultFile& result : files) {
    const Result<std::string> bytes = encode_npy(result.view);
    if (!bytes) return bytes.status();
    Result<StagedFile> file = StagedFile::stage(result.path, *bytes, result.option);
    if (!file) return file.status();
    staged.push_back(*std::move(file));
  }
  if (interrupted()) return internal("interrupted");
  for (StagedFile& file : staged) {
    if (Status s = file.commit(); !s.ok()) return s;
  }
  return {};
}

void print_document(const RunOutcome& outcome) {
  Json json = {{"problem", outcome.problem},
               {"kernel", outcome.kernel},
               {"device", outcome.device},
               {"time_us", outcome.time_us},
               {"check", nullptr}};
  if (outcome.check) {
    json["check"] = {{"max_abs_err", outcome.check->max_abs_err},
                     {"max_rel_err", outcome.check->max_rel_err},
                     {"ok", outcome.check->ok}};
  }
  print_json(json);
}

void print_lines(const RunOutcome& outcome) {
  print_text(fmt::format("problem: {}\nkernel: {}\ntime: {} us\n", outcome.problem, outcome.kernel,
                         number(outcome.time_us)));
  if (!outcome.check) return;
  print_text(fmt::format("check: max_abs_err {:.3g} max_rel_err {:.3g} {}\n",
                         outcome.check->max_abs_err, outcome.check->max_rel_err,
                         outcome.check->ok ? "ok" : "FAILED"));
}

}  // namespace

Result<int> finish_run(const RunOutcome& outcome, std::span<const ResultFile> files,
                       const Common& common) {
  const bool passed = !outcome.check || outcome.check->ok;
  if (passed) {
    if (Status s = write_results(files); !s.ok()) return s;
  }
  if (common.json) {
    print_document(outcome);
  } else if (!common.quiet || !passed) {
    print_lines(outcome);
  }
  return passed ? kDone : kCheckFailed;
}

}  // namespace convoy::cli
