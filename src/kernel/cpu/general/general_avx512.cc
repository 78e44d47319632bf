// The avx512 copy of general_tile.h.
#include "kernel/cpu/general/general_tile.h"

namespace convoy {

void general_avx512(const GeneralArgs& args, int64_t task) {
  run_task(args, task);
}

}  // namespace convoy
