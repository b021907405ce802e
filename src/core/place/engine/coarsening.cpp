#include "core/place/engine/coarsening.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/base/random.h"
#include "core/place/engine/graph.h"
#include "core/place/engine/refinement.h"

namespace ranktree::core::place::engine {
namespace {

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

// All vertices, those of low degree first, in random order within a degree. O(vertices).
std::vector<Vertex> visiting_order(const Graph& graph, Random& random) {
  constexpr std::size_t kClasses = 32;
  const std::size_t count = graph.size.size();
  std::vector<Vertex> shuffled(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t j = random.below(i + 1);
    shuffled[i] = shuffled[j];
    shuffled[j] = static_cast<Vertex>(i);
  }
  const auto degree_class = [&](Vertex vertex) { return std::min(graph.arcs_of(vertex).size(), kClasses - 1); };
  std::array<std::size_t, kClasses + 1> begin{};
  for (std::size_t i = 0; i < count; ++i) ++begin.at(degree_class(static_cast<Vertex>(i)) + 1);
  for (std::size_t i = 1; i <= kClasses; ++i) begin.at(i) += begin.at(i - 1);
  std::vector<Vertex> order(count);
  for (const Vertex vertex : shuffled) order[begin.at(degree_class(vertex))++] = vertex;
  return order;
}

class Matcher {
 public:
  Matcher(const Graph& graph, std::int64_t most, const Sides* sides)
      : graph_(graph), most_(most), sides_(sides), mate_(graph.size.size(), -1) {}

  void match_neighbours(const std::vector<Vertex>& order) {
    for (const Vertex vertex : order) {
      if (mate_[at(vertex)] >= 0) continue;
      double best = -1;
      Vertex partner = -1;
      for (const Arc& arc : graph_.arcs_of(vertex)) {
        if (mate_[at(arc.to)] >= 0 || !may_join(vertex, arc.to)) continue;
        const double rating = arc.weight / graph_.size[at(arc.to)];
        if (rating <= best) continue;
        best = rating;
        partner = arc.to;
      }
      if (partner >= 0) join(vertex, partner);
    }
  }

  // Leaves of one star, and others whose neighbours are all taken; only the first few arcs are looked at.
  void match_by_common_neighbour(const std::vector<Vertex>& order) {
    constexpr std::size_t kArcs = 4;
    std::vector<Vertex> waiting(mate_.size(), -1);  // by the neighbour
    for (const Vertex vertex : order) {
      const auto arcs = graph_.arcs_of(vertex);
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
  void match_isolated(const std::vector<Vertex>& order) {
    std::array<Vertex, 2> waiting{-1, -1};
    for (const Vertex vertex : order) {
      if (mate_[at(vertex)] >= 0 || !graph_.arcs_of(vertex).empty()) continue;
      Vertex& other = waiting.at(sides_ == nullptr ? 0 : (*sides_)[at(vertex)]);
      if (other >= 0 && may_join(vertex, other)) {
        join(vertex, std::exchange(other, -1));
      } else {
        other = vertex;
      }
    }
  }

  // How many vertices a matched graph would have.
  [[nodiscard]] std::size_t parts() const { return mate_.size() - pairs_; }

  [[nodiscard]] Matching take(const std::vector<Vertex>& order) const {
    Matching matching{std::vector<Vertex>(mate_.size(), -1), 0};
    for (const Vertex vertex : order) {
      if (matching.part_of[at(vertex)] >= 0) continue;
      matching.part_of[at(vertex)] = matching.parts;
      if (mate_[at(vertex)] >= 0) matching.part_of[at(mate_[at(vertex)])] = matching.parts;
      ++matching.parts;
    }
    return matching;
  }

 private:
  [[nodiscard]] bool may_join(Vertex a, Vertex b) const {
    return std::int64_t{graph_.size[at(a)]} + graph_.size[at(b)] <= most_ &&
           (sides_ == nullptr || (*sides_)[at(a)] == (*sides_)[at(b)]);
  }
  void join(Vertex a, Vertex b) {
    mate_[at(a)] = b;
    mate_[at(b)] = a;
    ++pairs_;
  }

  const Graph& graph_;
  std::int64_t most_;
  const Sides* sides_;
  std::vector<Vertex> mate_;
  std::size_t pairs_ = 0;
};

}  // namespace

Matching match_heavy_edges(const Graph& graph, std::int64_t most, const Sides* sides, Random& random) {
  const std::vector<Vertex> order = visiting_order(graph, random);
  Matcher matcher(graph, most, sides);
  matcher.match_neighbours(order);
  if (4 * matcher.parts() > 3 * order.size()) {
    matcher.match_by_common_neighbour(order);
    matcher.match_isolated(order);
  }
  return matcher.take(order);
}

}  // namespace ranktree::core::place::engine
