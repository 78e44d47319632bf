# The kernel room: sources of every family.
convoy_room(kernel
  kernel/reference/reference.cc kernel/reference/sums.cc)
