// Conv2d takes one stride for each of its two axes.
// error: no matching|excess elements|too many initializers|could not convert
#include <convoy/convoy.h>

convoy::Conv2d make() {
#ifdef CORRECTED
  return convoy::Conv2d({.stride = {1, 1}});
#else
  return convoy::Conv2d({.stride = {1, 1, 1}});
#endif
}
