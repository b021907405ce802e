// A recorded pattern as a graph (treematch-2013 appendix A); include/ranktree/mpi.h documents the call.
#pragma once

#include <string>
#include <vector>

namespace ranktree::mpi {

// The arguments of MPI_Dist_graph_create.
struct RecordedGraph {
  std::vector<int> sources;
  std::vector<int> degrees;
  std::vector<int> destinations;
  std::vector<int> weights;
};

// Local: everything at rank 0, nothing elsewhere, for a communicator of `size` ranks. A null pointer is an error like
// others. Throws core::Error, AgreedError, std::bad_alloc.
RecordedGraph read_pattern(const char* file, const char* metric, int rank, int size);

}  // namespace ranktree::mpi
