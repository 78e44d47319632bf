// The convoy command line: parses, runs one command, turns its outcome into an exit code.
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <new>
#include <sstream>
#include <string_view>

#include "command.h"
#include "output.h"
#include "report.h"

namespace convoy::cli {
namespace {

// A closed 0, 1 or 2 would be handed to the next file that opens, and messages would end up in it.
void hold_standard_streams() {
  for (int fd = 0; fd < 3; ++fd) {
    if (::fcntl(fd, F_GETFD) != -1) continue;
    // Lowest free number first: this one. Writing to stdout then fails, as it should.
    static_cast<void>(::open("/dev/null", fd == 2 ? O_WRONLY : O_RDONLY));
  }
}

void add_commands(CLI::App& app, Common& common, Action& action) {
  add_run(app, common, action);
  add_explain(app, common, action);
  add_bench(app, common, action);
  add_bench_compare(app, common, action);
  add_audit(app, common, action);
  add_manifest(app, common, action);
  add_devices(app, common, action);
  add_selftest(app, common, action);
  add_cache(app, common, action);
}

// --json counts even where the rest of the command line cannot be parsed.
bool asks_for_json(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--json") return true;
  }
  return false;
}

int usage(const CLI::App& app, const CLI::ParseError& error, bool json) {
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) {  // --help, --version
    std::ostringstream text, unused;
    app.exit(error, text, unused);
    print_text(text.str());
    return kDone;
  }
  return report_error(kUsage, "usage",
                      fmt::format("{}; `convoy --help` lists commands and options", error.what()),
                      json);
}

int run_action(const Action& action, const Common& common) {
  const Result<int> outcome = action();
  if (outcome) return *outcome;
  return interrupted() ? kInterrupted : report_error(outcome.status(), common.json);
}

int run(int argc, char** argv) {
  Common common;
  Action action;
  CLI::App app("Grouped convolution in 1D, 2D and 3D", "convoy");
  app.set_version_flag("--version", fmt::format("convoy {}", version()));
  app.require_subcommand(0, 1);  // 1 would hide an unknown word behind "a command is required"
  add_commands(app, common, action);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return usage(app, error, asks_for_json(argc, argv));
  }
  if (!action) {
    return report_error(kUsage, "usage", "a command is missing; `convoy --help` lists them",
                        asks_for_json(argc, argv));
  }
  return run_action(action, common);
}

// The library throws nothing, but its standard containers may.
int run_guarded(int argc, char** argv) {
  const bool json = asks_for_json(argc, argv);
  try {
    return run(argc, argv);
  } catch (const std::bad_alloc&) {
    return report_error(unavailable("memory: exhausted; use a smaller problem"), json);
  } catch (const std::exception& error) {
    if (std::ferror(stdout) != 0) return kDone;  // main() reports it
    return report_error(internal(fmt::format("internal error: {}; report it", error.what())), json);
  } catch (...) {
    return report_error(internal("internal error: unknown exception; report it"), json);
  }
}

}  // namespace
}  // namespace convoy::cli

int main(int argc, char** argv) {
  using namespace convoy::cli;  // NOLINT(google-build-using-namespace)
  hold_standard_streams();
  ::signal(SIGPIPE, SIG_IGN);
  catch_interrupts();
  const int exit = run_guarded(argc, argv);
  const bool flushed = std::fflush(stdout) == 0;
  if ((!flushed || std::ferror(stdout) != 0) && exit == kDone) {
    return report_error(kRefused, "kInvalid",
                        "stdout: cannot be written (closed, or its disk is full); redirect it "
                        "elsewhere",
                        false);
  }
  return exit;
}
