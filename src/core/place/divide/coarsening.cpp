#include "core/place/divide/coarsening.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "core/base/index.h"
#include "core/base/random.h"
#include "core/place/graph/graph.h"

namespace ranktree::core::place::engine {
// All vertices, those of low degree first, in random order within a degree. O(vertices).
void Coarsening::choose_order(Random& random) {
  constexpr std::size_t kClasses = 32;
  const std::size_t count = graph_->size.size();
  shuffled_.resize(count);
  std::iota(shuffled_.begin(), shuffled_.end(), 0);
  shuffle(shuffled_, random);
  const auto degree_class = [&](Vertex vertex) { return std::min(graph_->arcs_of(vertex).size(), kClasses - 1); };
  std::array<std::size_t, kClasses + 1> begin{};
  for (std::size_t i = 0; i < count; ++i) ++begin.at(degree_class(static_cast<Vertex>(i)) + 1);
  for (std::size_t i = 1; i <= kClasses; ++i) begin.at(i) += begin.at(i - 1);
  order_.resize(count);
  for (const Vertex vertex : shuffled_) order_[begin.at(degree_class(vertex))++] = vertex;
}

bool Coarsening::may_join(Vertex a, Vertex b) const {
  return std::int64_t{graph_->size[at(a)]} + graph_->size[at(b)] <= most_;
}

void Coarsening::join(Vertex a, Vertex b) {
  std::swap(next_[at(a)], next_[at(b)]);
  ++joined_;
}

// The neighbour of the largest rated weight, the first of those; matched ones rate 0. Chosen without a branch, which
// the processor could not predict.
Vertex Coarsening::heaviest_neighbour(Vertex vertex) const {
  const auto arcs = graph_->arcs_of(vertex);
  std::uint64_t best = 0;
  for (std::size_t i = 0; i < arcs.size(); ++i) {
    const auto rating =
        std::bit_cast<std::uint32_t>(arcs[i].weight * worth_[at(arcs[i].to)]);  // ordered as numbers are
    best = std::max(best, std::uint64_t{rating} << 32U | (~static_cast<std::uint32_t>(i)));
  }
  return best >> 32U == 0 ? -1 : arcs[~static_cast<std::uint32_t>(best)].to;
}

// The same of those that may join.
Vertex Coarsening::heaviest_allowed(Vertex vertex) const {
  float best = 0;
  Vertex partner = -1;
  for (const GuideArc& arc : graph_->arcs_of(vertex)) {
    const float rating = arc.weight * worth_[at(arc.to)];
    if (rating <= best || !may_join(vertex, arc.to)) continue;
    best = rating;
    partner = arc.to;
  }
  return partner;
}

Vertex Coarsening::best_partner(Vertex vertex) const {
  const Vertex partner = heaviest_neighbour(vertex);
  return partner < 0 || may_join(vertex, partner) ? partner : heaviest_allowed(vertex);
}

void Coarsening::join_neighbour(Vertex vertex, Vertex partner) {
  if (partner < 0) return;
  join(vertex, partner);
  worth_[at(vertex)] = worth_[at(partner)] = 0;
}

// The square's root is as good as the square, and cannot become 0.
void Coarsening::match_neighbours(std::span<const double> ties) {
  constexpr double kLeast = 1e-30;  // a quotient stays finite
  worth_.resize(graph_->size.size());
  for (std::size_t i = 0; i < worth_.size(); ++i) {
    const double size = graph_->size[i];
    worth_[i] = static_cast<float>(1 / std::sqrt(std::max(kLeast, ties[i] * size)));
  }
  for (const Vertex vertex : order_) {
    if (is_alone(vertex)) join_neighbour(vertex, best_partner(vertex));
  }
}

// Leaves of one star, and others whose neighbours are all taken; only the first few arcs are looked at.
void Coarsening::match_by_common_neighbour() {
  constexpr std::size_t kArcs = 4;
  std::vector<Vertex> waiting(next_.size(), -1);  // by the neighbour
  for (const Vertex vertex : order_) {
    const auto arcs = graph_->arcs_of(vertex);
    for (std::size_t i = 0; i < std::min(arcs.size(), kArcs) && is_alone(vertex); ++i) {
      const Vertex other = waiting[at(arcs[i].to)];
      if (other >= 0 && other != vertex && is_alone(other) && may_join(vertex, other)) {
        join(vertex, other);
      } else {
        waiting[at(arcs[i].to)] = vertex;
      }
    }
  }
}

// Vertices without any tie: in pairs as they come.
void Coarsening::match_isolated() {
  Vertex other = -1;
  for (const Vertex vertex : order_) {
    if (!is_alone(vertex) || !graph_->arcs_of(vertex).empty()) continue;
    if (other >= 0 && may_join(vertex, other)) {
      join(vertex, std::exchange(other, -1));
    } else {
      other = vertex;
    }
  }
}

// In the order of the vertices, so that neighbours stay near each other.
void Coarsening::number_parts(std::vector<Vertex>& part_of) const {
  part_of.resize(next_.size());
  Vertex parts = 0;
  for (std::size_t i = 0; i < next_.size(); ++i) {
    const auto vertex = static_cast<Vertex>(i);
    part_of[i] = next_[i] < vertex ? part_of[at(next_[i])] : parts++;
  }
}

void Coarsening::run(const Guide& graph, std::span<const double> ties, std::int64_t most, Random& random,
                     Coarse& coarse) {
  constexpr double kFew = 2.5;  // graphs without hubs get more pairs
  graph_ = &graph;
  most_ = most;
  next_.resize(graph.size.size());
  std::iota(next_.begin(), next_.end(), 0);
  joined_ = 0;
  choose_order(random);
  match_neighbours(ties);
  if (kFew * static_cast<double>(joined_) < static_cast<double>(next_.size())) {
    match_by_common_neighbour();
    match_isolated();
  }
  number_parts(coarse.part_of);
  const auto parts = static_cast<Vertex>(next_.size() - joined_);
  coarse.graph = contract(graph, coarse.part_of, parts, workers_);
  coarse.total = totals_of(coarse.graph, workers_);
}

}  // namespace ranktree::core::place::engine
