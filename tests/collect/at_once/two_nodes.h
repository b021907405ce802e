// Nodes that are emulated: this machine is one.
#pragma once

#include <mpi.h>

#include <utility>

#include "mpi/attribute.h"

// Two of consecutive ranks. To be called before any collective on the communicator.
inline void emulate_two_nodes(MPI_Comm comm) {
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  ranktree::mpi::Annotation annotation;
  annotation.node = ranktree::mpi::SharedNode{rank < (size + 1) / 2 ? 0 : 1};
  ranktree::mpi::set_annotation(comm, std::move(annotation));
}
