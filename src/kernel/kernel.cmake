# The kernel room: sources of every family.
convoy_room(kernel
  kernel/roster.cc
  kernel/reference/reference.cc kernel/reference/sums.cc
  kernel/cpu/geometry.cc kernel/cpu/tier.cc
  kernel/cpu/broadcast/broadcast.cc kernel/cpu/broadcast/broadcast_baseline.cc
  kernel/cpu/broadcast/broadcast_avx2.cc kernel/cpu/broadcast/broadcast_avx512.cc
  kernel/cpu/channel_lanes/channel_lanes.cc kernel/cpu/channel_lanes/channel_lanes_baseline.cc
  kernel/cpu/channel_lanes/channel_lanes_avx2.cc kernel/cpu/channel_lanes/channel_lanes_avx512.cc)
