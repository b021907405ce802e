// The calls that make graph communicators; include/ranktree/mpi.h documents each. All throw MpiError (MPI's error
// handler has been called) or AgreedError (it has not, all ranks throw alike); outputs are then untouched.
#pragma once

#include <mpi.h>

namespace ranktree::mpi {

// Arguments of MPI_Dist_graph_create.
struct DistGraph {
  int n = 0;
  const int* sources = nullptr;
  const int* degrees = nullptr;
  const int* destinations = nullptr;
  const int* weights = nullptr;
};

// Arguments of MPI_Dist_graph_create_adjacent.
struct AdjacentGraph {
  int indegree = 0;
  const int* sources = nullptr;
  const int* source_weights = nullptr;
  int outdegree = 0;
  const int* destinations = nullptr;
  const int* destination_weights = nullptr;
};

// Arguments of MPI_Graph_create.
struct WholeGraph {
  int nodes = 0;
  const int* index = nullptr;
  const int* edges = nullptr;
};

// Arguments of ranktree_Comm_reorder.
struct TrafficGraph {
  int n = 0;
  const int* sources = nullptr;
  const int* degrees = nullptr;
  const int* destinations = nullptr;
  const double* weights = nullptr;
};

void dist_graph_create(MPI_Comm comm, const DistGraph& graph, MPI_Info info, bool reorder, MPI_Comm* made);
void dist_graph_create_adjacent(MPI_Comm comm, const AdjacentGraph& graph, MPI_Info info, bool reorder, MPI_Comm* made);
void graph_create(MPI_Comm comm, const WholeGraph& graph, bool reorder, MPI_Comm* made);
void comm_reorder(MPI_Comm comm, const TrafficGraph& graph, MPI_Info info, int* newrank, MPI_Comm* made);

// Local. What MPI_Comm_get_info gives and what is known of the reordering; the caller frees it.
MPI_Info info_of(MPI_Comm comm);

}  // namespace ranktree::mpi
