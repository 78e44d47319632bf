// Ctrl-C and SIGTERM: a second to stop politely, then the process ends with nothing left behind.
#include <signal.h>
#include <unistd.h>

#include <atomic>

#include "command.h"
#include "files.h"
#include "output.h"

namespace convoy::cli {
namespace {

std::atomic<bool> asked = false;

void end_now(int) {
  remove_unfinished_files();
  ::_exit(kInterrupted);
}

// A kernel cannot be asked to stop, so the alarm ends what does not look at interrupted().
void ask(int signal) {
  if (asked.exchange(true)) end_now(signal);
  ::alarm(1);
}

void handle(int signal, void (*handler)(int)) {
  struct sigaction action{};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  ::sigaction(signal, &action, nullptr);
}

}  // namespace

bool interrupted() {
  return asked;
}

void catch_interrupts() {
  handle(SIGINT, ask);
  handle(SIGTERM, ask);
  handle(SIGALRM, end_now);
}

}  // namespace convoy::cli
