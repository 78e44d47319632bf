# The kernel room: sources of every family.
convoy_room(kernel
  kernel/cpu/geometry.cc
  kernel/cpu/broadcast/broadcast.cc kernel/cpu/broadcast/broadcast_avx2.cc
  kernel/cpu/broadcast/broadcast_avx512.cc kernel/cpu/broadcast/broadcast_baseline.cc
  kernel/cpu/channel_lanes/channel_lanes.cc kernel/cpu/channel_lanes/channel_lanes_avx2.cc
  kernel/cpu/channel_lanes/channel_lanes_avx512.cc kernel/cpu/channel_lanes/channel_lanes_baseline.cc
  kernel/cpu/general/general.cc kernel/cpu/general/general_avx2.cc
  kernel/cpu/general/general_avx512.cc kernel/cpu/general/general_baseline.cc
  kernel/cpu/row_lanes/row_lanes.cc kernel/cpu/row_lanes/row_lanes_avx2.cc
  kernel/cpu/row_lanes/row_lanes_avx512.cc kernel/cpu/row_lanes/row_lanes_baseline.cc
  kernel/cpu/row_lanes/row_lanes_shape.cc
  kernel/gpu/block_diagonal/block_diagonal.cc
  kernel/gpu/block_diagonal/block_diagonal_args.cc
  kernel/gpu/direct/direct.cc kernel/gpu/direct/direct_choice.cc
  kernel/gpu/entry_source.cc kernel/gpu/gemm_tiles.cc kernel/gpu/general/general.cc kernel/gpu/igemm/igemm.cc
  kernel/gpu/igemm_planes/igemm_planes.cc
  kernel/gpu/judge/judge.cc kernel/gpu/reference/reference.cc
  kernel/reference/reference.cc kernel/reference/sums.cc)
