// Declared edges that travel: to the ranks that hold their ends, and to the ranks that own these after reordering.
#pragma once

#include <span>
#include <vector>

#include "mpi/agree.h"
#include "mpi/exchange.h"
#include "mpi/reorder/modes.h"

namespace ranktree::mpi {

// Edges as MPI_Dist_graph_create takes them: sources[i] has the next degrees[i] of `destinations`.
struct EdgeList {
  std::span<const int> sources;
  std::span<const int> degrees;
  std::span<const int> destinations;
};

// Weights as doubles, null for a graph without, and what each is multiplied by.
struct WeightScale {
  const double* weights = nullptr;
  double scale = 1;
};

// All that was declared for one vertex, as MPI_Dist_graph_create_adjacent takes it. Weights are empty in unweighted
// graphs.
struct Neighbourhood {
  std::vector<int> sources;
  std::vector<int> source_weights;
  std::vector<int> destinations;
  std::vector<int> destination_weights;
};

// The functions below are collective over the mailbox's communicator, whose rank k holds vertex k, but for those that
// are local. They throw AgreedError where a step had failed on some rank before their exchange, and MpiError. What
// fails after it is a failure in `steps`, and the result then means nothing.

// Brings every edge to the holders of both its ends. Neighbours come in the order of the ranks that declared them, then
// in that of the declarations. Without `weights` the graph is unweighted.
Neighbourhood neighbourhood_of(Mailbox& mailbox, LocalSteps& steps, const EdgeList& edges, const int* weights);

// The traffic of the calling rank's vertex: an edge counts its weight times `scale`, or 1 without weights.
VertexEdges traffic(Mailbox& mailbox, LocalSteps& steps, const EdgeList& edges, const WeightScale& weights, int vertex);

// The same from neighbourhoods that both ends of an edge have declared: the mean of the two weights.
VertexEdges traffic_of_both_ends(Mailbox& mailbox, LocalSteps& steps, const Neighbourhood& own, int vertex);

// The same from a neighbourhood that holds every edge of the vertex. Local; throws std::bad_alloc.
VertexEdges traffic_of(const Neighbourhood& own, int vertex);

// Passes the neighbourhood of every vertex from the rank that holds it to the rank that owns it: the calling rank is to
// own `vertex`.
Neighbourhood pass_to_owner(Mailbox& mailbox, LocalSteps& steps, const Neighbourhood& held, int vertex);

}  // namespace ranktree::mpi
