// Coarsening: strongly tied vertices become one.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/random.h"
#include "core/place/engine/graph.h"
#include "core/place/engine/refinement.h"

namespace ranktree::core::place::engine {

// A graph made smaller, and the vertex that each of the larger one's vertices became.
struct Coarse {
  Guide graph;
  std::vector<double> total;  // weight of all arcs of each vertex
  std::vector<Vertex> part_of;
};

// Joins pairs by heavy edges (weight over the product of the sizes), vertices of low degree first, in random order
// otherwise; vertices left alone that share a neighbour are joined where few found a partner. No vertex gets larger
// than `most`; with sides, only vertices of the same side are joined. Keeps memory between calls.
class Coarsening {
 public:
  // O(vertices + arcs). Replaces `coarse`, whose memory is used again.
  void run(const Guide& graph, std::int64_t most, const Sides* sides, Random& random, Coarse& coarse);

 private:
  void choose_order(Random& random);
  [[nodiscard]] Vertex heaviest_neighbour(Vertex vertex) const;
  [[nodiscard]] Vertex heaviest_allowed(Vertex vertex) const;
  void match_neighbours();
  void match_by_common_neighbour();
  void match_isolated();
  [[nodiscard]] bool may_join(Vertex a, Vertex b) const;
  void join(Vertex a, Vertex b);
  void number_parts(Coarse& coarse) const;
  // The arcs of a part, from `begin` on.
  template <class Slot>
  struct Row {
    const Vertex* part_of;
    Slot* slot_of;  // by part: where the row's arc to it is, if not before `begin`
    GuideArc* arcs;
    std::int64_t begin;
  };
  template <class Slot>
  double append_arcs(Vertex vertex, Vertex part, const Row<Slot>& row, std::int64_t& row_end) const;
  template <class Slot>
  void contract_pairs(std::vector<Slot>& slots, Coarse& coarse) const;

  const Guide* graph_ = nullptr;
  std::int64_t most_ = 0;
  const Sides* sides_ = nullptr;
  std::vector<Vertex> order_, shuffled_;
  std::vector<Vertex> mate_;  // -1: none
  std::vector<float> worth_;  // 1 / size of those without a mate, 0 of others
  std::size_t pairs_ = 0;
  std::vector<std::int32_t> slots_;
  std::vector<std::int64_t> long_slots_;  // of graphs with more arcs than that counts
};

}  // namespace ranktree::core::place::engine
