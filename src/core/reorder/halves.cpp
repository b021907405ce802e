#include "core/reorder/halves.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "core/base/index.h"
#include "core/base/scale.h"
#include "core/base/workers.h"
#include "core/place/divide/bisection.h"
#include "core/place/graph/graph.h"
#include "core/reorder/network.h"
#include "core/reorder/spread_graph.h"

namespace ranktree::core::reorder {
namespace {

using place::engine::Guide;

std::int64_t total_weight(const WeightedGraph& graph) {
  return std::accumulate(graph.weight.begin(), graph.weight.end(), std::int64_t{0});
}

int heaviest(const WeightedGraph& graph) {
  return graph.weight.empty() ? 1 : *std::max_element(graph.weight.begin(), graph.weight.end());
}

std::int64_t left_weight(const WeightedGraph& graph, const Sides& sides) {
  std::int64_t left = 0;
  for (std::size_t i = 0; i < sides.size(); ++i) left += sides[i] == 0 ? graph.weight[i] : 0;
  return left;
}

constexpr int kPasses = 12;  // of refinement at most

// What the engine divides, scaled so that the heaviest arc or pull is about 1.
struct Guided {
  Guide graph;
  std::vector<double> totals;  // of each vertex, pulls included
  std::vector<double> pull;
};

Guided guided(const WeightedGraph& graph) {
  double largest = 0;
  for (const double weight : graph.weights) largest = std::max(largest, weight);
  for (const double pull : graph.pull) largest = std::max(largest, std::abs(pull));
  const double scale = scale_to(0, largest);
  Guided made;
  made.graph.offset.assign(graph.begin.begin(), graph.begin.end());
  made.graph.size.assign(graph.weight.begin(), graph.weight.end());
  for (std::size_t i = 0; i < graph.peers.size(); ++i) {
    made.graph.arcs.push_back({graph.peers[i], static_cast<float>(graph.weights[i] * scale)});
  }
  for (const double pull : graph.pull) made.pull.push_back(pull * scale);
  for (int vertex = 0; vertex < graph.size(); ++vertex) {
    double total = made.pull.empty() ? 0 : std::abs(made.pull[at(vertex)]);
    for (const auto& arc : made.graph.arcs_of(vertex)) total += arc.weight;
    made.totals.push_back(total);
  }
  return made;
}

}  // namespace

std::int64_t refine(const WeightedGraph& graph, Sides& sides, std::int64_t excess, std::int64_t tolerance) {
  Workers workers(1);
  const Guided whole = guided(graph);
  place::engine::Refinement refinement(workers);
  const std::int64_t before = left_weight(graph, sides);
  const std::int64_t aim = before - excess;
  const std::int64_t slack = std::max<std::int64_t>(heaviest(graph), total_weight(graph) / 100);
  refinement.run(whole.graph, {whole.totals, {}, whole.pull}, {aim - tolerance, aim + tolerance}, slack, kPasses,
                 sides);
  return excess + left_weight(graph, sides) - before;
}

Sides find_halves(const WeightedGraph& graph, std::int64_t target, int tries, std::uint64_t seed) {
  if (graph.size() == 0) return {};
  Workers workers(1);
  const Guided whole = guided(graph);
  place::engine::Bisection bisection(workers);
  bisection.reseed(seed);
  Sides best;
  std::pair<std::int64_t, double> least;  // how far from the target, then the cut
  for (int i = 0; i < std::max(1, tries); ++i) {
    Sides sides;
    const double cut = bisection.divide(whole.graph, whole.totals, {target, target}, target, sides);
    const std::int64_t off = std::abs(left_weight(graph, sides) - target);
    const std::pair found{std::max<std::int64_t>(0, off - heaviest(graph) / 2), cut};
    if (!best.empty() && !(found < least)) continue;
    best = std::move(sides);
    least = found;
  }
  return best;
}

void report(const SpreadVertex& vertex, std::uint8_t side, std::span<const std::uint8_t> sides_of_peers, int leader,
            std::vector<Letter<Report>>& letters) {
  letters.push_back({leader, vertex.id, {-1, 2 * vertex.weight + side, 0}});
  for (std::size_t i = 0; i < vertex.edges.size(); ++i) {
    letters.push_back({leader, vertex.id, {vertex.edges[i].peer, sides_of_peers[i], vertex.edges[i].weight}});
  }
}

Band assemble(std::span<const Letter<Report>> letters) {
  Band band;
  for (const auto& letter : letters) {
    if (letter.content.peer < 0) band.ids.push_back(letter.from);
  }
  for (const auto& letter : letters) {
    const Report& said = letter.content;
    if (said.peer < 0) {
      band.graph.weight.push_back(said.number / 2);
      band.sides.push_back(static_cast<std::uint8_t>(said.number % 2));
      band.graph.pull.push_back(0);
      band.graph.begin.push_back(band.graph.peers.size());
      continue;
    }
    const auto found = std::lower_bound(band.ids.begin(), band.ids.end(), said.peer);
    if (found == band.ids.end() || *found != said.peer) {
      band.graph.pull.back() += said.number == 0 ? -said.weight : said.weight;
      continue;
    }
    band.graph.peers.push_back(static_cast<int>(found - band.ids.begin()));
    band.graph.weights.push_back(said.weight);
    band.graph.begin.back() = band.graph.peers.size();
  }
  return band;
}

}  // namespace ranktree::core::reorder
