// A recorded pattern as a graph (treematch-2013 appendix A); include/ranktree/mpi.h documents the call.
#pragma once

#include <mpi.h>

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

// Collective over `comm`: everything at rank 0, nothing elsewhere. A null pointer is an error like others. Throws
// AgreedError, MpiError.
RecordedGraph read_pattern(const char* file, MPI_Comm comm, const char* metric);

}  // namespace ranktree::mpi
