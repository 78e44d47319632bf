// channel_lanes in the avx512 tier: Sixteen lanes.
#include "kernel/cpu/channel_lanes/tile.h"

namespace convoy {

void channel_lanes_avx512(const ChannelLanesArgs& args, int64_t task) {
  run_task_any(args, task);
}

}  // namespace convoy
