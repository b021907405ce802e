// Graphs as callers hand them over, checked: nothing is read that was not given.
#pragma once

#include <cstdint>

#include "mpi/reorder/calls.h"
#include "mpi/reorder/graph_edges.h"

namespace ranktree::mpi {

// They throw core::Error(kInput), naming argument, place, expected and found. `size` is that of the communicator.
void require_graph(const DistGraph& graph, int size);
void require_graph(const AdjacentGraph& graph, int size);
void require_graph(const WholeGraph& graph, int size);
void require_graph(const TrafficGraph& graph, int size);

// Of checked graphs.
EdgeList edges_of(int n, const int* sources, const int* degrees, const int* destinations);
Neighbourhood neighbourhood_of(const AdjacentGraph& graph);
Neighbourhood neighbourhood_of(const WholeGraph& graph, int vertex);  // without weights; of a vertex that exists

// A hash of a graph that every rank must give alike. Not for graphs that failed the check.
std::uint64_t fingerprint(const WholeGraph& graph);

}  // namespace ranktree::mpi
