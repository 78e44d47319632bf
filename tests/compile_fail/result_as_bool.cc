// Whether there is a result is asked, not converted: a number must never stand in for it.
// error: no viable conversion|cannot convert
#include <convoy/convoy.h>

bool valid(const convoy::Result<convoy::Plan>& plan) {
#ifdef CORRECTED
  return plan.ok();
#else
  return plan;
#endif
}
