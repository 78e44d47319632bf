// broadcast in the avx2 tier: Eight lanes.
#include "kernel/cpu/broadcast/tile.h"

namespace convoy {

void broadcast_avx2(const BroadcastArgs& args, int64_t task) {
  run_task_any(args, task);
}

}  // namespace convoy
