// Options do not turn into a convolution by themselves.
// error: no viable conversion|could not convert
#include <convoy/convoy.h>

convoy::Conv2d make(const convoy::ConvOptions<2>& options) {
#ifdef CORRECTED
  return convoy::Conv2d(options);
#else
  return options;
#endif
}
