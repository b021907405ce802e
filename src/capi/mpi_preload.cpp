#include "mpi/collect/preload.h"

#include <mpi.h>

#include "mpi/collect/call.h"
#include "mpi/collect/chooser.h"
#include "mpi/collect/context.h"
#include "mpi/collect/operation.h"
#include "mpi/collect/size_class.h"

namespace collect = ranktree::mpi::collect;

int ranktree_collect_call(const collect::Operation* operation) noexcept { return collect::call(*operation); }

collect::Shortcuts* ranktree_collect_shortcuts(MPI_Comm comm) noexcept {
  try {
    return &collect::Context::of(comm)->chooser().shortcuts();
  } catch (...) {
    return nullptr;
  }
}
