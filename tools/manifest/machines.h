// The schema of machines.yaml: what a machine's peaks are and how they are known.
#pragma once

#include <set>
#include <string>

#include "manifest/value.h"

namespace convoy::manifest {

// A peak has a `datasheet` figure, or a `measured` one with `how` and `when`, or both; what nobody
// measured says `measured: unmeasured`.
void check_machine(const Value& value, const FaultSink& sink, std::set<std::string>& names);

}  // namespace convoy::manifest
