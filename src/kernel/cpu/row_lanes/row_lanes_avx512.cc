// The avx512 copy of row_lanes_tile.h.
#include "kernel/cpu/row_lanes/row_lanes_tile.h"

namespace convoy {

void row_lanes_avx512(const RowLanesArgs& args, int64_t task) {
  run_task(args, task);
}

}  // namespace convoy
