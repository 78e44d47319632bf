// channel_lanes in the baseline tier: Four lanes, on every CPU.
#include "kernel/cpu/channel_lanes/tile.h"

namespace convoy {

void channel_lanes_baseline(const ChannelLanesArgs& args, int64_t task) {
  run_task_any(args, task);
}

}  // namespace convoy
