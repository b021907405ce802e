#include "core/reorder/grid_pattern.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <vector>

#include "core/base/workers.h"
#include "core/pattern/affinity.h"
#include "core/place/graph/graph.h"
#include "core/place/order/lattice.h"
#include "core/reorder/grid_choice.h"

namespace ranktree::core::reorder {
namespace {

namespace engine = place::engine;

constexpr double kLeastShare = 0.9;  // of the traffic, on the grid's links

engine::Graph graph_of(const pattern::Affinity& affinity) {
  engine::Graph graph;
  graph.size.assign(static_cast<std::size_t>(affinity.ranks), 1);
  graph.arcs.resize(affinity.indices.size());
  for (std::size_t i = 0; i < affinity.indices.size(); ++i) graph.arcs[i] = {affinity.indices[i], affinity.weights[i]};
  graph.offset = affinity.indptr;
  return graph;
}

// The dimension of the link between two places; nothing where they are no neighbours.
std::optional<std::size_t> dimension_between(const engine::Lattice& lattice, const std::vector<int>& from,
                                             const std::vector<int>& to) {
  std::optional<std::size_t> dimension;
  for (std::size_t j = 0; j < from.size(); ++j) {
    const int steps = std::abs(from[j] - to[j]);
    if (steps == 0) continue;
    const bool around = lattice.wraps[j] != 0 && steps == lattice.sizes[j] - 1;
    if (dimension || (steps != 1 && !around)) return std::nullopt;
    dimension = j;
  }
  return dimension;
}

struct Links {
  double weight = 0;  // both ends of each
  int nearest = 0;    // ranks of a link
};

// By dimension; the last entry is what is no link.
std::vector<Links> links_by_dimension(const engine::Graph& graph, const engine::Lattice& lattice) {
  std::vector<std::vector<int>> coordinates(lattice.vertex_at.size());
  for (std::size_t place = 0; place < lattice.vertex_at.size(); ++place) {
    coordinates[static_cast<std::size_t>(lattice.vertex_at[place])] =
        lattice.coordinates(static_cast<std::int64_t>(place));
  }
  std::vector<Links> links(lattice.sizes.size() + 1, {0, graph.vertices()});
  for (engine::Vertex vertex = 0; vertex < graph.vertices(); ++vertex) {
    const std::vector<int>& here = coordinates[static_cast<std::size_t>(vertex)];
    for (const engine::Arc& arc : graph.arcs_of(vertex)) {
      const auto dimension = dimension_between(lattice, here, coordinates[static_cast<std::size_t>(arc.to)]);
      Links& of_dimension = links[dimension.value_or(lattice.sizes.size())];
      of_dimension.weight += arc.weight;
      of_dimension.nearest = std::min(of_dimension.nearest, std::abs(arc.to - vertex));
    }
  }
  return links;
}

}  // namespace

std::optional<GridTraffic> grid_of_pattern(const pattern::Affinity& affinity) {
  Workers workers(1);
  const engine::Graph graph = graph_of(affinity);
  const std::optional<engine::Lattice> lattice = engine::find_lattice(graph, workers);
  if (!lattice || std::count(lattice->sizes.begin(), lattice->sizes.end(), 2) > 1) return std::nullopt;
  const std::vector<Links> links = links_by_dimension(graph, *lattice);
  double all = 0;
  for (const Links& each : links) all += each.weight;
  if (links.back().weight > (1 - kLeastShare) * all) return std::nullopt;
  std::vector<std::size_t> order(lattice->sizes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return links[a].nearest > links[b].nearest; });
  GridTraffic traffic;
  for (const std::size_t j : order) {
    const int planes = lattice->sizes[j] - (lattice->wraps[j] != 0 ? 0 : 1);
    traffic.dims.push_back(lattice->sizes[j]);
    traffic.periodic.push_back(lattice->wraps[j]);
    traffic.plane_weights.push_back(links[j].weight / 2 / planes);
  }
  return traffic;
}

}  // namespace ranktree::core::reorder
