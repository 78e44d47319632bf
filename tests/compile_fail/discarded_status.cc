// A Status may not be dropped.
// error: unused-result
#include <convoy/convoy.h>

void run(const convoy::Plan& plan, const convoy::RunArgs& args) {
#ifdef CORRECTED
  if (convoy::Status status = plan.run(args); !status.ok()) return;
#else
  plan.run(args);
#endif
}
