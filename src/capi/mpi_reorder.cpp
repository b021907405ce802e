// The calls of ranktree/mpi.h that reorder ranks, once for each MPI.
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

#include "mpi/agree.h"
#include "mpi/check.h"
#include "mpi/guard.h"
#include "mpi/reorder/calls.h"
#include "mpi/split/split.h"
#include "ranktree/mpi.h"

namespace {

namespace mpi = ranktree::mpi;

struct Free {
  void operator()(int* numbers) const { std::free(numbers); }
};
using Numbers = std::unique_ptr<int, Free>;

// A copy for C's free(); null when empty.
Numbers copied(const std::vector<int>& numbers) {
  if (numbers.empty()) return nullptr;
  Numbers copy(static_cast<int*>(std::malloc(numbers.size() * sizeof(int))));
  if (!copy) throw std::bad_alloc();
  std::copy(numbers.begin(), numbers.end(), copy.get());
  return copy;
}

}  // namespace

// NOLINTBEGIN(readability-function-size): as many parameters as MPI's own have
int ranktree_Dist_graph_create(MPI_Comm comm_old, int n, const int sources[], const int degrees[],
                               const int destinations[], const int weights[], MPI_Info info, int reorder,
                               MPI_Comm* comm_dist_graph) {
  return mpi::guard(comm_old, [&] {
    mpi::dist_graph_create(comm_old, {n, sources, degrees, destinations, weights}, info, reorder != 0, comm_dist_graph);
  });
}

int ranktree_Dist_graph_create_adjacent(MPI_Comm comm_old, int indegree, const int sources[], const int sourceweights[],
                                        int outdegree, const int destinations[], const int destweights[], MPI_Info info,
                                        int reorder, MPI_Comm* comm_dist_graph) {
  return mpi::guard(comm_old, [&] {
    const mpi::AdjacentGraph graph{indegree, sources, sourceweights, outdegree, destinations, destweights};
    mpi::dist_graph_create_adjacent(comm_old, graph, info, reorder != 0, comm_dist_graph);
  });
}

int ranktree_Graph_create(MPI_Comm comm_old, int nnodes, const int index[], const int edges[], int reorder,
                          MPI_Comm* comm_graph) {
  return mpi::guard(comm_old, [&] { mpi::graph_create(comm_old, {nnodes, index, edges}, reorder != 0, comm_graph); });
}

int ranktree_Cart_create(MPI_Comm comm_old, int ndims, const int dims[], const int periods[], int reorder,
                         MPI_Comm* comm_cart) {
  return mpi::guard(comm_old, [&] { mpi::cart_create(comm_old, {ndims, dims, periods}, reorder != 0, comm_cart); });
}

int ranktree_Dims_create(MPI_Comm comm, int ndims, const double dim_weights[], const int periods[], MPI_Info info,
                         int dims[]) {
  return mpi::guard(comm, [&] { mpi::dims_create(comm, {ndims, dim_weights, periods, dims}, info); });
}

int ranktree_Cart_create_weighted(MPI_Comm comm_old, int ndims, const double dim_weights[], const int periods[],
                                  MPI_Info info, int dims[], MPI_Comm* comm_cart) {
  return mpi::guard(comm_old,
                    [&] { mpi::cart_create_weighted(comm_old, {ndims, dim_weights, periods, dims}, info, comm_cart); });
}

int ranktree_Comm_reorder(MPI_Comm comm, int n, const int sources[], const int degrees[], const int destinations[],
                          const double weights[], MPI_Info info, int* newrank, MPI_Comm* newcomm) {
  return mpi::guard(
      comm, [&] { mpi::comm_reorder(comm, {n, sources, degrees, destinations, weights}, info, newrank, newcomm); });
}

int ranktree_Comm_get_info(MPI_Comm comm, MPI_Info* info) {
  return mpi::guard(comm, [&] {
    mpi::require(info, "info");
    *info = mpi::info_of(comm);
  });
}

int ranktree_Comm_rebalance(MPI_Comm comm, MPI_Info info, int newranks[], MPI_Comm* newcomm) {
  return mpi::guard(comm, [&] { mpi::rebalance(comm, info, newranks, newcomm); });
}

int ranktree_read_pattern(const char* file, MPI_Comm comm, const char* metric, int* n, int** sources, int** degrees,
                          int** destinations, int** weights) {  // #lizard forgives: MPI_Dist_graph_create's arrays
  return mpi::guard(comm, [&] {
    std::array<Numbers, 4> copies;
    mpi::RecordedGraph graph;
    int rank = 0;
    int size = 0;
    mpi::check(PMPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
    mpi::check(PMPI_Comm_size(comm, &size), "MPI_Comm_size");
    mpi::attempt_together(comm, [&] {
      mpi::require(n, "n");
      mpi::require(sources, "sources");
      mpi::require(degrees, "degrees");
      mpi::require(destinations, "destinations");
      mpi::require(weights, "weights");
      graph = mpi::read_pattern(file, metric, rank, size);
      copies = {copied(graph.sources), copied(graph.degrees), copied(graph.destinations), copied(graph.weights)};
    });
    *n = static_cast<int>(graph.sources.size());
    *sources = copies[0].release();
    *degrees = copies[1].release();
    *destinations = copies[2].release();
    *weights = copies[3].release();
  });
}
// NOLINTEND(readability-function-size)
