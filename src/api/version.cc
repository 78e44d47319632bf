// The version of the library.
#include <convoy/convoy.h>

namespace convoy {

const char* version() {
  return CONVOY_VERSION;
}

}  // namespace convoy
