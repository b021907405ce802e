#include "mpi/collect/preload.h"

#include <mpi.h>

#include "mpi/collect/call.h"
#include "mpi/collect/chooser.h"
#include "mpi/collect/context.h"
#include "mpi/collect/entered.h"
#include "mpi/collect/native.h"
#include "mpi/collect/operation.h"
#include "mpi/collect/reproducible.h"
#include "mpi/collect/size_class.h"

namespace collect = ranktree::mpi::collect;

int ranktree_collect_call(const collect::Operation* operation) noexcept {
  return collect::within_call() ? collect::native(*operation) : collect::call(*operation);
}

collect::Shortcuts* ranktree_collect_shortcuts(MPI_Comm comm) noexcept {
  if (collect::within_call()) return nullptr;
  const collect::Entered entered;
  try {
    const auto context = collect::Context::of(comm);
    collect::Shortcuts& shortcuts = context->chooser().shortcuts();
    if (collect::is_reproducible(*context)) collect::look_at_reductions(shortcuts);
    return &shortcuts;
  } catch (...) {
    return nullptr;
  }
}
