#include "core/place/order/ordered.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/scale.h"
#include "core/base/workers.h"
#include "core/pattern/affinity.h"
#include "core/pattern/pattern.h"
#include "core/place/exact/exact_search.h"
#include "core/place/graph/graph.h"
#include "core/place/order/lattice.h"
#include "core/place/order/structural_order.h"

namespace ranktree::core::place::engine {
namespace {

using pattern::Rank;

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

[[noreturn]] void refuse(Rank rank, const std::string& text) {
  throw Error(Fault::kInput, "pattern: rank " + std::to_string(rank) + ": " + text);
}

double largest_weight(const pattern::Affinity& affinity, Rank first, Rank last) {
  double largest = 0;
  for (Rank rank = first; rank < last; ++rank) {
    for (const double weight : affinity.weights_of(rank)) {
      if (!std::isfinite(weight) || weight < 0) {
        refuse(rank, "expected a finite weight, at least 0, found " + std::to_string(weight));
      }
      largest = std::max(largest, weight);
    }
    for (const Rank other : affinity.neighbours(rank)) {
      if (other >= 0 && other < affinity.ranks) continue;
      refuse(rank,
             "expected a neighbour in 0.." + std::to_string(affinity.ranks - 1) + ", found " + std::to_string(other));
    }
  }
  return largest;
}

}  // namespace

double largest_weight(const pattern::Affinity& affinity, Workers& workers) {
  constexpr std::int64_t kBlocks = 16;
  std::array<double, kBlocks> largest{};
  workers.for_each(kBlocks, static_cast<std::int64_t>(affinity.indices.size() / 4), [&](int block) {
    const auto first = static_cast<Rank>(block * std::int64_t{affinity.ranks} / kBlocks);
    const auto last = static_cast<Rank>((block + 1) * std::int64_t{affinity.ranks} / kBlocks);
    largest.at(at(block)) = largest_weight(affinity, first, last);
  });
  return *std::max_element(largest.begin(), largest.end());
}

// Each vertex appends itself to the lists of its neighbours, so that all lists ascend, whatever the numbering.
Graph graph_of(const pattern::Affinity& affinity, const std::vector<Rank>& order, double largest) {
  const double scale = scale_for_sums(largest);
  const std::size_t count = order.size();
  std::vector<Vertex> vertex_of(count);
  for (std::size_t i = 0; i < count; ++i) vertex_of[at(order[i])] = static_cast<Vertex>(i);
  const auto for_each_arc = [&](auto visit) {
    for (std::size_t i = 0; i < count; ++i) {
      const auto neighbours = affinity.neighbours(order[i]);
      const auto weights = affinity.weights_of(order[i]);
      for (std::size_t j = 0; j < neighbours.size(); ++j) {
        if (neighbours[j] == order[i] || weights[j] <= 0) continue;
        visit(at(vertex_of[at(neighbours[j])]), Arc{static_cast<Vertex>(i), weights[j] * scale});
      }
    }
  };
  Graph graph;
  graph.size.assign(count, 1);
  graph.offset.assign(count + 1, 0);
  for_each_arc([&](std::size_t vertex, const Arc&) { ++graph.offset[vertex + 1]; });
  for (std::size_t vertex = 0; vertex < count; ++vertex) graph.offset[vertex + 1] += graph.offset[vertex];
  graph.arcs.resize(at(graph.offset.back()));
  std::vector<std::int64_t> next(graph.offset.begin(), graph.offset.end() - 1);
  for_each_arc([&](std::size_t vertex, const Arc& arc) { graph.arcs[at(next[vertex]++)] = arc; });
  return graph;
}

Ordered put_in_order(const pattern::Affinity& affinity, Workers& workers) {
  Ordered found;
  const double largest = largest_weight(affinity, workers);
  if (largest == 0) return found;
  // The exact solver decides there: among equals it decides alike whatever the unit of the weights.
  if (affinity.ranks <= exact::kMostRanks) {
    found.order.resize(static_cast<std::size_t>(affinity.ranks));
    std::iota(found.order.begin(), found.order.end(), 0);
  } else {
    found.order = structural_order(affinity, workers);
  }
  found.graph = graph_of(affinity, found.order, largest);
  found.lattice = find_lattice(found.graph, workers);
  if (!found.lattice) return found;
  std::vector<Rank> rows;  // row by row, which is the same however ranks are numbered
  rows.reserve(found.order.size());
  for (Vertex& vertex : found.lattice->vertex_at) {
    rows.push_back(found.order[at(vertex)]);
    vertex = static_cast<Vertex>(rows.size()) - 1;
  }
  found.order = std::move(rows);
  found.graph = graph_of(affinity, found.order, largest);
  return found;
}

}  // namespace ranktree::core::place::engine
