// A Result may not be dropped.
// error: unused-result
#include <convoy/convoy.h>

bool known(const convoy::ConvProblem& problem, const convoy::Device& device) {
#ifdef CORRECTED
  return convoy::plan(problem, device).ok();
#else
  convoy::plan(problem, device);
  return true;
#endif
}
