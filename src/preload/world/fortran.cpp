// Attributes in Fortran. Everything else that Fortran does with a communicator ends in a C entry
// (docs/decisions/wrap-both-c-entries.md); these four calls go straight into the MPI, in Open MPI and in MPICH. The
// shims replace the handle and hand all pointers on: mpif.h and `use mpi` (mpi_x_ and other compilers' spellings),
// mpi_f08.
#include <mpi.h>

#include <atomic>

#include "preload/next.h"
#include "preload/world/world.h"

namespace ranktree::preload {
namespace {

using Get = void (*)(MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*);
using Set = void (*)(MPI_Fint*, MPI_Fint*, void*, MPI_Fint*);

// The Fortran handle of the new world; the given one where it is not MPI_COMM_WORLD's or there is no new world.
MPI_Fint fortran_world(MPI_Fint comm) noexcept {
  if (new_world.load(std::memory_order_relaxed) == MPI_Comm{} || comm != PMPI_Comm_c2f(MPI_COMM_WORLD)) return comm;
  return PMPI_Comm_c2f(in_world(MPI_COMM_WORLD));
}

// As in C: MPI's own attributes may hang on the MPI's MPI_COMM_WORLD alone. gfortran's .false. is 0, as all others'.
void get(Get next, MPI_Fint* comm, MPI_Fint* keyval, void* value, MPI_Fint* flag, MPI_Fint* error) noexcept {
  MPI_Fint world = fortran_world(*comm);
  if (next == nullptr) return;
  next(&world, keyval, value, flag, error);
  if (world != *comm && *flag == 0) next(comm, keyval, value, flag, error);
}

void set(Set next, const MPI_Fint* comm, MPI_Fint* keyval, void* value, MPI_Fint* error) noexcept {
  MPI_Fint world = fortran_world(*comm);
  if (next != nullptr) next(&world, keyval, value, error);
}

}  // namespace
}  // namespace ranktree::preload

// NOLINTBEGIN(readability-identifier-naming,bugprone-reserved-identifier): Fortran's names
#define RANKTREE_GET(name)                                                                                          \
  RANKTREE_ENTRY void name(MPI_Fint* comm, MPI_Fint* keyval, void* value, MPI_Fint* flag, MPI_Fint* error) {        \
    static constinit ranktree::preload::Next next{#name};                                                           \
    ranktree::preload::get(reinterpret_cast<ranktree::preload::Get>(next.get()), comm, keyval, value, flag, error); \
  }
#define RANKTREE_SET(name)                                                                                    \
  RANKTREE_ENTRY void name(MPI_Fint* comm, MPI_Fint* keyval, void* value, MPI_Fint* error) {                  \
    static constinit ranktree::preload::Next next{#name};                                                     \
    ranktree::preload::set(reinterpret_cast<ranktree::preload::Set>(next.get()), comm, keyval, value, error); \
  }

RANKTREE_GET(mpi_comm_get_attr_)
RANKTREE_GET(mpi_comm_get_attr)
RANKTREE_GET(mpi_comm_get_attr__)
RANKTREE_GET(MPI_COMM_GET_ATTR)
RANKTREE_GET(pmpi_comm_get_attr_)
RANKTREE_GET(pmpi_comm_get_attr)
RANKTREE_GET(pmpi_comm_get_attr__)
RANKTREE_GET(PMPI_COMM_GET_ATTR)
RANKTREE_GET(mpi_comm_get_attr_f08_)
RANKTREE_GET(pmpi_comm_get_attr_f08_)
RANKTREE_GET(pmpir_comm_get_attr_f08_)
RANKTREE_GET(mpi_attr_get_)
RANKTREE_GET(mpi_attr_get)
RANKTREE_GET(mpi_attr_get__)
RANKTREE_GET(MPI_ATTR_GET)
RANKTREE_GET(pmpi_attr_get_)
RANKTREE_GET(pmpi_attr_get)
RANKTREE_GET(pmpi_attr_get__)
RANKTREE_GET(PMPI_ATTR_GET)
RANKTREE_SET(mpi_comm_set_attr_)
RANKTREE_SET(mpi_comm_set_attr)
RANKTREE_SET(mpi_comm_set_attr__)
RANKTREE_SET(MPI_COMM_SET_ATTR)
RANKTREE_SET(pmpi_comm_set_attr_)
RANKTREE_SET(pmpi_comm_set_attr)
RANKTREE_SET(pmpi_comm_set_attr__)
RANKTREE_SET(PMPI_COMM_SET_ATTR)
RANKTREE_SET(mpi_comm_set_attr_f08_)
RANKTREE_SET(pmpi_comm_set_attr_f08_)
RANKTREE_SET(pmpir_comm_set_attr_f08_)
RANKTREE_SET(mpi_attr_put_)
RANKTREE_SET(mpi_attr_put)
RANKTREE_SET(mpi_attr_put__)
RANKTREE_SET(MPI_ATTR_PUT)
RANKTREE_SET(pmpi_attr_put_)
RANKTREE_SET(pmpi_attr_put)
RANKTREE_SET(pmpi_attr_put__)
RANKTREE_SET(PMPI_ATTR_PUT)
// NOLINTEND(readability-identifier-naming,bugprone-reserved-identifier)
