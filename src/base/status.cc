// Names of status codes.
#include <convoy/status.h>

namespace convoy {

const char* name(Code code) {
  switch (code) {
    case Code::kOk:
      return "ok";
    case Code::kInvalid:
      return "kInvalid";
    case Code::kUnsupported:
      return "kUnsupported";
    case Code::kUnavailable:
      return "kUnavailable";
    case Code::kInternal:
      return "kInternal";
  }
  return "?";
}

}  // namespace convoy
