// MPI_Compare_and_swap for the tracing library: SMPI declares it without the standard's const, so that the generated
// wrapper does not fit.
#include "preload/entries.h"

namespace ranktree::preload {
namespace {

template <typename Forward>
int counted(Buffer origin, Buffer result, Target target, Forward forward) {
  const Call call;
  if (call.outermost()) {
    record("MPI_Compare_and_swap",
           [&](const Scene& scene) { get_and_put(scene, MPI_OP_NULL, origin, result, target); });
  }
  return forward();
}

}  // namespace
}  // namespace ranktree::preload

// NOLINTBEGIN(readability-function-size): the standard's parameters
RANKTREE_ENTRY int MPI_Compare_and_swap(const void* origin, void* compare, void* result, MPI_Datatype datatype,
                                        int target, MPI_Aint displacement, MPI_Win win) {
  // #lizard forgives the number of parameters: the standard's
  return ranktree::preload::counted({origin, 1, datatype}, {result, 1, datatype}, {target, win}, [&] {
    return RANKTREE_NEXT(MPI_Compare_and_swap)()(origin, compare, result, datatype, target, displacement, win);
  });
}

RANKTREE_ENTRY int PMPI_Compare_and_swap(const void* origin, void* compare, void* result, MPI_Datatype datatype,
                                         int target, MPI_Aint displacement, MPI_Win win) {
  // #lizard forgives the number of parameters: the standard's
  return ranktree::preload::counted({origin, 1, datatype}, {result, 1, datatype}, {target, win}, [&] {
    return RANKTREE_NEXT(PMPI_Compare_and_swap)()(origin, compare, result, datatype, target, displacement, win);
  });
}
// NOLINTEND(readability-function-size)
