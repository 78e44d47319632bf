// CONVOY_ASSERT: a broken invariant stops debug builds and costs nothing in release builds.
#pragma once

#include <cassert>

#define CONVOY_ASSERT(condition) assert(condition)
