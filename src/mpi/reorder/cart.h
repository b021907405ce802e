// Cartesian communicators whose grid is tiled on the machine.
#pragma once

#include <mpi.h>

namespace ranktree::mpi {

// Arguments of MPI_Cart_create.
struct CartGrid {
  int ndims = 0;
  const int* dims = nullptr;
  const int* periods = nullptr;
};

// ranktree_Cart_create() (include/ranktree/mpi.h). The first ranks take part, as many as the grid has vertices. One
// rank gathers where they are and places the grid; the others wait. Throws MpiError (MPI's error handler has been
// called) or AgreedError (it has not, all ranks throw alike); `made` is then untouched.
void cart_create(MPI_Comm comm, const CartGrid& grid, bool reorder, MPI_Comm* made);

}  // namespace ranktree::mpi
