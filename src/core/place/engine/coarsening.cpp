#include "core/place/engine/coarsening.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
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

// The largest weight over size, the first of those; 0 for who is taken. Chosen without a branch, as nobody can foresee
// who is taken.
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

void Coarsening::match_neighbours() {
  worth_.resize(graph_->size.size());
  for (std::size_t i = 0; i < worth_.size(); ++i) worth_[i] = 1 / static_cast<float>(graph_->size[i]);
  for (const Vertex vertex : order_) {
    if (mate_[at(vertex)] >= 0) continue;
    Vertex partner = heaviest_neighbour(vertex);
    if (partner >= 0 && !may_join(vertex, partner)) partner = heaviest_allowed(vertex);
    if (partner < 0) continue;
    join(vertex, partner);
    worth_[at(vertex)] = worth_[at(partner)] = 0;
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

// Without a branch that depends on whether the arc is new: half of them are. The weight of all.
template <class Slot>
double Coarsening::append_arcs(Vertex vertex, Vertex part, const Row<Slot>& row, std::int64_t& row_end) const {
  std::int64_t end = row_end;
  double total = 0;
  for (const GuideArc& arc : graph_->arcs_of(vertex)) {
    const Vertex other = row.part_of[arc.to];
    if (other == part) continue;
    Slot& slot = row.slot_of[other];
    const auto known = static_cast<std::int64_t>(slot >= row.begin);
    const std::int64_t place = end + known * (slot - end);
    GuideArc& merged = row.arcs[place];
    const std::uint32_t there = std::bit_cast<std::uint32_t>(merged.weight) & (0U - static_cast<std::uint32_t>(known));
    merged = {other, std::bit_cast<float>(there) + arc.weight};
    slot = static_cast<Slot>(place);
    end += 1 - known;
    total += arc.weight;
  }
  row_end = end;
  return total;
}

template <class Slot>
void Coarsening::contract_pairs(std::vector<Slot>& slots, Coarse& coarse) const {
  Guide& graph = coarse.graph;
  const std::size_t parts = mate_.size() - pairs_;
  graph.offset.resize(parts + 1);
  graph.arcs.resize(graph_->arcs.size() + 1);
  graph.size.resize(parts);
  coarse.total.resize(parts);
  slots.assign(parts, -1);
  std::int64_t end = 0;
  graph.offset[0] = 0;
  for (std::size_t i = 0; i < mate_.size(); ++i) {
    const Vertex mate = mate_[i];
    if (mate >= 0 && at(mate) < i) continue;
    const Vertex part = coarse.part_of[i];
    const Row<Slot> row{coarse.part_of.data(), slots.data(), graph.arcs.data(), end};
    coarse.total[at(part)] = append_arcs(static_cast<Vertex>(i), part, row, end);
    if (mate >= 0) coarse.total[at(part)] += append_arcs(mate, part, row, end);
    graph.size[at(part)] = graph_->size[i] + (mate >= 0 ? graph_->size[at(mate)] : 0);
    graph.offset[at(part) + 1] = end;
  }
  graph.arcs.resize(at(end));
}

void Coarsening::run(const Guide& graph, std::int64_t most, const Sides* sides, Random& random, Coarse& coarse) {
  constexpr double kFew = 2.5;  // graphs without hubs get more pairs
  graph_ = &graph;
  most_ = most;
  sides_ = sides;
  mate_.assign(graph.size.size(), -1);
  pairs_ = 0;
  choose_order(random);
  match_neighbours();
  if (kFew * static_cast<double>(pairs_) < static_cast<double>(mate_.size())) {
    match_by_common_neighbour();
    match_isolated();
  }
  number_parts(coarse);
  constexpr std::size_t kLong = std::numeric_limits<std::int32_t>::max();
  if (graph.arcs.size() < kLong) {
    contract_pairs(slots_, coarse);
  } else {
    contract_pairs(long_slots_, coarse);
  }
}

}  // namespace ranktree::core::place::engine
