// Small problems of one rank and pass, legal and not, that separate right formulas from wrong ones.
#pragma once

#include <convoy/problem.h>

#include <vector>

namespace convoy::manifest {

// Every axis differs from its neighbours, so that a formula with the wrong axis shows.
std::vector<ConvProblem> lattice(int rank, Pass pass);

}  // namespace convoy::manifest
