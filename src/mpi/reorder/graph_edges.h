// Declared edges on their way: to the ranks that own their ends, and to who owns them after reordering.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <span>
#include <vector>

#include "mpi/reorder/modes.h"

namespace ranktree::mpi {

// Edges as MPI_Dist_graph_create takes them: sources[i] has the next degrees[i] of `destinations`.
struct EdgeList {
  std::span<const int> sources;
  std::span<const int> degrees;
  std::span<const int> destinations;
};

// All that was declared for one vertex, as MPI_Dist_graph_create_adjacent takes it. Weights are empty in unweighted
// graphs.
struct Neighbourhood {
  std::vector<int> sources;
  std::vector<int> source_weights;
  std::vector<int> destinations;
  std::vector<int> destination_weights;
};

// The functions below are collective over `alone`, a communicator with no other messages, whose rank k holds vertex k.
// They throw MpiError, and AgreedError where memory ends on some rank.

// Brings every edge to the holders of both its ends. Neighbours come in the order of the ranks that declared them, then
// in that of the declarations. Without `weights` the graph is unweighted.
Neighbourhood collect(MPI_Comm alone, const EdgeList& edges, const int* weights);

// The traffic of the calling rank's vertex: an edge counts its weight times `scale`, or 1 without weights.
VertexEdges traffic(MPI_Comm alone, const EdgeList& edges, const double* weights, double scale);

// The same from neighbourhoods that both ends of an edge have declared: the mean of what they say.
VertexEdges traffic_of_both_ends(MPI_Comm alone, const Neighbourhood& own);

// The same from a neighbourhood that holds every edge of the vertex. Local.
VertexEdges traffic_of(const Neighbourhood& own, int vertex);

// Hands the neighbourhood of every vertex from who holds it to who owns it: the calling rank is to own `vertex`.
Neighbourhood hand_over(MPI_Comm alone, const Neighbourhood& held, int vertex);

}  // namespace ranktree::mpi
