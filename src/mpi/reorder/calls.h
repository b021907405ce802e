// The reordering calls; include/ranktree/mpi.h documents each. They throw MpiError (MPI's error handler has been
// called) or AgreedError (it has not, all ranks throw alike); outputs are then untouched.
#pragma once

#include <mpi.h>

#include <optional>
#include <string>
#include <vector>

#include "core/pattern/affinity.h"
#include "core/pattern/pattern.h"

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

// Arguments of MPI_Cart_create.
struct CartGrid {
  int ndims = 0;
  const int* dims = nullptr;
  const int* periods = nullptr;
};

// Arguments of ranktree_Dims_create and ranktree_Cart_create_weighted; `dims` is an output, too.
struct WeightedGrid {
  int ndims = 0;
  const double* weights = nullptr;  // null: all equal
  const int* periods = nullptr;
  int* dims = nullptr;
};

// The first ranks take part, as many as the grid has vertices. One rank gathers where they are and places the grid; the
// others wait.
void cart_create(MPI_Comm comm, const CartGrid& grid, bool reorder, MPI_Comm* made);

// One rank chooses the dimensions, too; where it cannot, they are those with the least traffic whatever the machine.
void cart_create_weighted(MPI_Comm comm, const WeightedGrid& grid, MPI_Info info, MPI_Comm* made);

// The same grid alone, for all ranks of `comm`.
void dims_create(MPI_Comm comm, const WeightedGrid& grid, MPI_Info info);

// For the bytes that the preload library has recorded between pairs of processes (mpi/reorder/traced.h) since the last
// call on `comm` or on what it was made from; what the call itself sends does not count for the next one.
void rebalance(MPI_Comm comm, MPI_Info info, int newranks[], MPI_Comm* made);

// Local. What MPI_Comm_get_info gives and what is known of the reordering; the caller frees it.
MPI_Info info_of(MPI_Comm comm);

// A recorded pattern as the arguments of MPI_Dist_graph_create (treematch-2013 appendix A).
struct RecordedGraph {
  std::vector<int> sources;
  std::vector<int> degrees;
  std::vector<int> destinations;
  std::vector<int> weights;
};

// Local. The pairs that `ranktree map` sees in a file, for a communicator of `size` ranks. Throws core::Error,
// AgreedError, std::bad_alloc.
// `metric`: what the numbers of formats with one number a pair are, if the file has no comment about it.
core::pattern::Pattern load_pattern(const std::string& file, int size,
                                    std::optional<core::pattern::Metric> metric = std::nullopt);

// Local: everything at rank 0, nothing elsewhere, for a communicator of `size` ranks. A null pointer is an error like
// others. Throws core::Error, AgreedError, std::bad_alloc.
RecordedGraph read_pattern(const char* file, const char* metric, int rank, int size);

}  // namespace ranktree::mpi
