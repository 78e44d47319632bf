// str(): joins values into one string; it stands in for std::format, which GCC 12 lacks.
#pragma once

#include <sstream>
#include <string>

namespace convoy {

template <class... Parts>
std::string str(const Parts&... parts) {
  std::ostringstream out;
  out.imbue(std::locale::classic());
  (out << ... << parts);
  return out.str();
}

}  // namespace convoy
