// broadcast in the avx512 tier: Sixteen lanes.
#include "kernel/cpu/broadcast/tile.h"

namespace convoy {

void broadcast_avx512(const BroadcastArgs& args, int64_t task) {
  run_task_any(args, task);
}

}  // namespace convoy
