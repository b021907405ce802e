#include "core/place/engine/coarsening.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "core/base/random.h"
#include "core/place/engine/graph.h"
#include "core/place/engine/refinement.h"
#include "core/place/engine/visiting_order.h"

namespace ranktree::core::place::engine {
namespace {

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

}  // namespace

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
  return std::int64_t{graph_->size[at(a)]} + graph_->size[at(b)] <= most_ &&
         (sides_ == nullptr || (*sides_)[at(a)] == (*sides_)[at(b)]);
}

void Coarsening::join(Vertex a, Vertex b) {
  mate_[at(a)] = b;
  mate_[at(b)] = a;
  ++pairs_;
}

void Coarsening::match_neighbours() {
  for (const Vertex vertex : order_) {
    if (mate_[at(vertex)] >= 0) continue;
    float best = -1;
    Vertex partner = -1;
    for (const GuideArc& arc : graph_->arcs_of(vertex)) {
      if (mate_[at(arc.to)] >= 0 || !may_join(vertex, arc.to)) continue;
      const float rating = arc.weight / static_cast<float>(graph_->size[at(arc.to)]);
      if (rating <= best) continue;
      best = rating;
      partner = arc.to;
    }
    if (partner >= 0) join(vertex, partner);
  }
}

// Leaves of one star, and others whose neighbours are all taken; only the first few arcs are looked at.
void Coarsening::match_by_common_neighbour() {
  constexpr std::size_t kArcs = 4;
  std::vector<Vertex> waiting(mate_.size(), -1);  // by the neighbour
  for (const Vertex vertex : order_) {
    const auto arcs = graph_->arcs_of(vertex);
    for (std::size_t i = 0; i < std::min(arcs.size(), kArcs) && mate_[at(vertex)] < 0; ++i) {
      const Vertex other = waiting[at(arcs[i].to)];
      if (other >= 0 && other != vertex && mate_[at(other)] < 0 && may_join(vertex, other)) {
        join(vertex, other);
      } else {
        waiting[at(arcs[i].to)] = vertex;
      }
    }
  }
}

// Vertices without any tie: in pairs as they come.
void Coarsening::match_isolated() {
  std::array<Vertex, 2> waiting{-1, -1};
  for (const Vertex vertex : order_) {
    if (mate_[at(vertex)] >= 0 || !graph_->arcs_of(vertex).empty()) continue;
    Vertex& other = waiting.at(sides_ == nullptr ? 0 : (*sides_)[at(vertex)]);
    if (other >= 0 && may_join(vertex, other)) {
      join(vertex, std::exchange(other, -1));
    } else {
      other = vertex;
    }
  }
}

// In the order of the vertices, so that neighbours stay near each other.
void Coarsening::number_parts(Coarse& coarse) const {
  coarse.part_of.resize(mate_.size());
  Vertex parts = 0;
  for (std::size_t i = 0; i < mate_.size(); ++i) {
    const Vertex mate = mate_[i];
    coarse.part_of[i] = mate >= 0 && at(mate) < i ? coarse.part_of[at(mate)] : parts++;
  }
}

void Coarsening::append_arcs(Vertex vertex, Vertex part, std::int64_t begin, Coarse& coarse) {
  auto& arcs = coarse.graph.arcs;
  for (const GuideArc& arc : graph_->arcs_of(vertex)) {
    const Vertex other = coarse.part_of[at(arc.to)];
    if (other == part) continue;
    std::int64_t& place = slot_[at(other)];
    if (place >= begin) {
      arcs[at(place)].weight += arc.weight;
    } else {
      place = static_cast<std::int64_t>(arcs.size());
      arcs.push_back({other, arc.weight});
    }
  }
}

void Coarsening::contract_pairs(Coarse& coarse) {
  Guide& graph = coarse.graph;
  const std::size_t parts = mate_.size() - pairs_;
  graph.offset.assign(1, 0);
  graph.offset.reserve(parts + 1);
  graph.arcs.clear();
  graph.arcs.reserve(graph_->arcs.size());
  graph.size.clear();
  graph.size.reserve(parts);
  slot_.assign(parts, -1);
  for (std::size_t i = 0; i < mate_.size(); ++i) {
    const Vertex mate = mate_[i];
    if (mate >= 0 && at(mate) < i) continue;
    const Vertex part = coarse.part_of[i];
    const auto begin = static_cast<std::int64_t>(graph.arcs.size());
    append_arcs(static_cast<Vertex>(i), part, begin, coarse);
    if (mate >= 0) append_arcs(mate, part, begin, coarse);
    graph.size.push_back(graph_->size[i] + (mate >= 0 ? graph_->size[at(mate)] : 0));
    graph.offset.push_back(static_cast<std::int64_t>(graph.arcs.size()));
  }
}

void Coarsening::run(const Guide& graph, std::int64_t most, const Sides* sides, Random& random, Coarse& coarse) {
  graph_ = &graph;
  most_ = most;
  sides_ = sides;
  mate_.assign(graph.size.size(), -1);
  pairs_ = 0;
  choose_order(random);
  match_neighbours();
  if (4 * pairs_ < mate_.size()) {
    match_by_common_neighbour();
    match_isolated();
  }
  number_parts(coarse);
  contract_pairs(coarse);
}

}  // namespace ranktree::core::place::engine
