// channel_lanes in the avx2 tier: Eight lanes.
#include "kernel/cpu/channel_lanes/tile.h"

namespace convoy {

void channel_lanes_avx2(const ChannelLanesArgs& args, int64_t task) {
  run_task_any(args, task);
}

}  // namespace convoy
