// The pipeline: ranks that are in order are divided among the machine's subtrees or tiled, what comes out is refined on
// the true cost, and the cheapest is kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "core/base/workers.h"
#include "core/pattern/pattern.h"
#include "core/place/engine/context.h"
#include "core/place/graph/graph.h"
#include "core/place/refine/objective.h"
#include "core/place/slots/slot_tree.h"

namespace ranktree::core::place::engine {

// What is to be placed on a tree.
struct Problem {
  const SlotTree& tree;
  const Objective& objective;
  const std::vector<pattern::Rank>& order;  // the rank of each vertex
  Context context;
  std::uint64_t seed;
  std::size_t work;   // of one placement, in arcs that are looked at
  double near = 1.3;  // the start is searched, too, where it costs less than so many times the best
};

class Pipeline {
 public:
  // `start`: by rank. All must outlive this.
  Pipeline(const Problem& problem, Workers& workers, const std::vector<SlotTree::Slot>& start);

  // From slots that something else has found, by vertex.
  void try_from(std::vector<SlotTree::Slot> slots);
  // Slots as they are, by vertex.
  void keep(std::vector<SlotTree::Slot> slots);
  // Several divisions of a small pattern, one of a large one; with slots to spare, packed ones and spread ones. The
  // first of the cheapest is kept.
  void try_divisions(const Piece& guide);
  // The search alone does not get far: only from a start that is nearly good enough is it worth its time.
  void try_start();

  [[nodiscard]] double start_cost() const { return start_cost_; }
  [[nodiscard]] double best_cost() const { return best_.cost; }
  [[nodiscard]] const std::vector<SlotTree::Slot>& best() const { return best_.slots; }
  // By rank.
  [[nodiscard]] std::vector<SlotTree::Slot> best_of_ranks() const;

 private:
  struct Candidate {
    std::vector<SlotTree::Slot> slots;
    double cost = std::numeric_limits<double>::infinity();
  };
  [[nodiscard]] int runs() const;
  void refine(std::uint64_t seed, Candidate& candidate) const;
  void keep(Candidate candidate);

  const Problem& problem_;
  Workers& workers_;
  std::vector<SlotTree::Pinned> pinned_;  // vertices, not ranks
  std::vector<SlotTree::Slot> start_;
  double start_cost_;
  Candidate best_;
};

}  // namespace ranktree::core::place::engine
