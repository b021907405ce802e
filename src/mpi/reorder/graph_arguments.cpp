#include "mpi/reorder/graph_arguments.h"

#include <mpi.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "mpi/reorder/calls.h"
#include "mpi/reorder/graph_edges.h"
#include "mpi/reorder/options.h"
#include "mpi/split/split.h"

namespace ranktree::mpi {
namespace {

[[noreturn]] void refuse(const std::string& what, const std::string& expected, const std::string& found) {
  throw core::Error(core::Fault::kInput, what + ": expected " + expected + ", found " + found);
}

std::string item(const char* name, std::size_t position) {
  return std::string(name) + "[" + std::to_string(position) + "]";
}

std::size_t count_of(const char* name, int count) {
  if (count < 0) refuse(name, "0 or more", std::to_string(count));
  return static_cast<std::size_t>(count);
}

// Nothing is expected at a pointer when nothing is to be read from it.
template <typename Number>
std::span<const Number> numbers(const char* name, const Number* pointer, std::size_t count) {
  if (count == 0) return {};
  require(pointer, name);
  return {pointer, count};
}

void require_vertices(const char* name, std::span<const int> vertices, int size) {
  for (std::size_t i = 0; i < vertices.size(); ++i) {
    if (vertices[i] >= 0 && vertices[i] < size) continue;
    refuse(item(name, i), "a vertex in 0.." + std::to_string(size - 1), std::to_string(vertices[i]));
  }
}

void require_weights(const char* name, const int* weights, std::size_t count) {
  if (weights == MPI_UNWEIGHTED || count == 0) return;
  if (weights == MPI_WEIGHTS_EMPTY) refuse(name, std::to_string(count) + " weights", "MPI_WEIGHTS_EMPTY");
  const std::span<const int> all = numbers(name, weights, count);
  for (std::size_t i = 0; i < count; ++i) {
    if (all[i] < 0) refuse(item(name, i), "a weight of 0 or more", std::to_string(all[i]));
  }
}

void require_weights(const char* name, const double* weights, std::size_t count) {
  for (std::size_t i = 0; weights != nullptr && i < count; ++i) {
    if (std::isfinite(weights[i]) && weights[i] >= 0) continue;
    refuse(item(name, i), "a finite weight of 0 or more", std::to_string(weights[i]));
  }
}

// The number of edges.
template <typename Graph>
std::size_t require_edges(const Graph& graph, int size) {
  const std::size_t n = count_of("n", graph.n);
  require_vertices("sources", numbers("sources", graph.sources, n), size);
  const std::span<const int> degrees = numbers("degrees", graph.degrees, n);
  std::size_t count = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (degrees[i] < 0) refuse(item("degrees", i), "0 or more", std::to_string(degrees[i]));
    count += static_cast<std::size_t>(degrees[i]);
  }
  require_vertices("destinations", numbers("destinations", graph.destinations, count), size);
  return count;
}

std::size_t begin_of(const WholeGraph& graph, int vertex) {
  return vertex == 0 ? 0 : static_cast<std::size_t>(graph.index[vertex - 1]);
}

}  // namespace

void require_graph(const DistGraph& graph, int size) {
  const std::size_t edges = require_edges(graph, size);
  require_weights("weights", graph.weights, edges);
}

void require_graph(const TrafficGraph& graph, int size) {
  const std::size_t edges = require_edges(graph, size);
  require_weights("weights", graph.weights, edges);
}

void require_graph(const AdjacentGraph& graph, int size) {
  const std::size_t in = count_of("indegree", graph.indegree);
  const std::size_t out = count_of("outdegree", graph.outdegree);
  require_vertices("sources", numbers("sources", graph.sources, in), size);
  require_vertices("destinations", numbers("destinations", graph.destinations, out), size);
  if ((graph.source_weights == MPI_UNWEIGHTED) != (graph.destination_weights == MPI_UNWEIGHTED)) {
    refuse("sourceweights, destweights", "both or neither MPI_UNWEIGHTED", "one");
  }
  require_weights("sourceweights", graph.source_weights, in);
  require_weights("destweights", graph.destination_weights, out);
}

void require_graph(const WholeGraph& graph, int size) {
  const std::size_t nodes = count_of("nnodes", graph.nodes);
  if (graph.nodes > size) refuse("nnodes", "at most " + std::to_string(size), std::to_string(graph.nodes));
  const std::span<const int> index = numbers("index", graph.index, nodes);
  for (std::size_t i = 0; i < nodes; ++i) {
    const int least = i == 0 ? 0 : index[i - 1];
    if (index[i] < least) refuse(item("index", i), std::to_string(least) + " or more", std::to_string(index[i]));
  }
  const std::size_t count = nodes == 0 ? 0 : static_cast<std::size_t>(index.back());
  require_vertices("edges", numbers("edges", graph.edges, count), graph.nodes);
}

EdgeList edges_of(int n, const int* sources, const int* degrees, const int* destinations) {
  const auto count = static_cast<std::size_t>(n);
  EdgeList edges{{sources, count}, {degrees, count}, {}};
  edges.destinations = {destinations, std::accumulate(edges.degrees.begin(), edges.degrees.end(), std::size_t{0})};
  return edges;
}

Neighbourhood neighbourhood_of(const AdjacentGraph& graph) {
  Neighbourhood own;
  own.sources.assign(graph.sources, graph.sources + graph.indegree);
  own.destinations.assign(graph.destinations, graph.destinations + graph.outdegree);
  if (graph.source_weights == MPI_UNWEIGHTED) return own;
  if (graph.indegree > 0) own.source_weights.assign(graph.source_weights, graph.source_weights + graph.indegree);
  if (graph.outdegree > 0) {
    own.destination_weights.assign(graph.destination_weights, graph.destination_weights + graph.outdegree);
  }
  return own;
}

Neighbourhood neighbourhood_of(const WholeGraph& graph, int vertex) {
  Neighbourhood own;
  for (int source = 0; source < graph.nodes; ++source) {
    for (std::size_t i = begin_of(graph, source); i < static_cast<std::size_t>(graph.index[source]); ++i) {
      if (source == vertex) own.destinations.push_back(graph.edges[i]);
      if (graph.edges[i] == vertex) own.sources.push_back(source);
    }
  }
  return own;
}

std::uint64_t fingerprint(const WholeGraph& graph) {
  std::uint64_t hash = mix(1, static_cast<std::uint64_t>(graph.nodes));
  for (int i = 0; i < graph.nodes; ++i) hash = mix(hash, static_cast<std::uint64_t>(graph.index[i]));
  const int count = graph.nodes == 0 ? 0 : graph.index[graph.nodes - 1];
  for (int i = 0; i < count; ++i) hash = mix(hash, static_cast<std::uint64_t>(graph.edges[i]));
  return hash;
}

}  // namespace ranktree::mpi
