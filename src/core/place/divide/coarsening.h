// Coarsening: strongly tied vertices become one.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/random.h"
#include "core/base/workers.h"
#include "core/place/graph/graph.h"

namespace ranktree::core::place::engine {

// A coarser graph, and the vertex that each vertex of the finer graph became part of.
struct Coarse {
  Guide graph;
  std::vector<double> total;  // weight of all arcs of each vertex
  std::vector<Vertex> part_of;
};

// Joins pairs by heavy edges, vertices of low degree first, in random order otherwise; unmatched vertices that share a
// neighbour are joined where few have found a partner. An edge is rated by the square of its weight over the sizes and
// total weights of both ends (M. Holtgrewe, P. Sanders, C. Schulz, Engineering a Scalable High Quality Graph
// Partitioner, IPDPS 2010). No vertex becomes larger than `most`. Keeps memory between calls.
class Coarsening {
 public:
  explicit Coarsening(Workers& workers) : workers_(workers) {}

  // `ties`: the weight of all arcs of each vertex. O(vertices + arcs). Replaces `coarse`,
  // whose memory is used again. The workers share large graphs; the result does not depend on their number.
  void run(const Guide& graph, std::span<const double> ties, std::int64_t most, Random& random, Coarse& coarse);

 private:
  void choose_order(Random& random);
  [[nodiscard]] Vertex heaviest_neighbour(Vertex vertex) const;
  [[nodiscard]] Vertex heaviest_allowed(Vertex vertex) const;
  [[nodiscard]] Vertex best_partner(Vertex vertex) const;  // -1: none
  void match_neighbours(std::span<const double> ties);
  void match_by_common_neighbour();
  void match_isolated();
  [[nodiscard]] bool may_join(Vertex a, Vertex b) const;
  [[nodiscard]] bool is_alone(Vertex vertex) const { return next_[static_cast<std::size_t>(vertex)] == vertex; }
  void join(Vertex a, Vertex b);
  void join_neighbour(Vertex vertex, Vertex partner);
  void number_parts(std::vector<Vertex>& part_of) const;

  Workers& workers_;
  const Guide* graph_ = nullptr;
  std::int64_t most_ = 0;
  std::vector<Vertex> order_, shuffled_;
  std::vector<Vertex> next_;  // the other one of a pair; itself: alone
  std::vector<float> worth_;  // factor of the weight of arcs to it; 0: it has a partner
  std::size_t joined_ = 0;    // pairs
};

}  // namespace ranktree::core::place::engine
