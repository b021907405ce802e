#include "mpi/collect/running.h"

#include <sched.h>

#include "mpi/collect/under_way.h"

namespace ranktree::mpi::collect {

void finish(Running& running) {
  constexpr int kSpins = 64;
  for (int tries = 0; !running.progress(); ++tries) {
    drive_all();
    if (tries >= kSpins) sched_yield();
  }
}

}  // namespace ranktree::mpi::collect
