// The pipeline: divides ordered ranks among the machine's subtrees, or tiles them, refines each result on the true
// cost, and keeps the cheapest.
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
#include "core/place/slots/slot_tree.h"

namespace ranktree::core::place::engine {

// The cost of placements by vertex of the problem, and their refinement, of lists and of matrices. Any thread may call.
class Objective {
 public:
  Objective() = default;
  Objective(const Objective&) = delete;
  Objective& operator=(const Objective&) = delete;
  Objective(Objective&&) = delete;
  Objective& operator=(Objective&&) = delete;
  virtual ~Objective() = default;

  // Each pair once.
  [[nodiscard]] virtual double cost(const std::vector<SlotTree::Slot>& slot_of) const = 0;
  // Never makes it more expensive.
  virtual void improve(std::uint64_t seed, std::vector<SlotTree::Slot>& slot_of) const = 0;
};

// The input of a placement on a tree.
struct Problem {
  const SlotTree& tree;
  const Objective& objective;
  const std::vector<pattern::Rank>& order;  // the rank of each vertex
  Context context;
  std::uint64_t seed;
  std::size_t work;   // of one placement, in visited arcs
  double near = 1.3;  // the start is refined, too, where it costs less than so many times the best
};

class Pipeline {
 public:
  // `start`: by rank. All must outlive this.
  Pipeline(const Problem& problem, Workers& workers, const std::vector<SlotTree::Slot>& start);

  // Refines a placement by vertex, and keeps it if it is the cheapest.
  void try_from(std::vector<SlotTree::Slot> slots);
  // Keeps a placement by vertex if it is the cheapest.
  void keep(std::vector<SlotTree::Slot> slots);
  // Makes several divisions of a small pattern, one of a large one; where slots stay free, packed ones and spread ones.
  // The first of the cheapest is kept.
  void try_divisions(const Piece& guide);
  // Refinement alone gains little, so it is worth its time only from a start that is nearly as good as the best.
  void try_start();

  [[nodiscard]] double start_cost() const { return start_cost_; }
  [[nodiscard]] double best_cost() const { return best_.cost; }
  [[nodiscard]] const std::vector<SlotTree::Slot>& best() const { return best_.slots; }
  // By rank.
  [[nodiscard]] std::vector<SlotTree::Slot> best_of_ranks() const;

 private:
  struct Solution {
    std::vector<SlotTree::Slot> slots;
    double cost = std::numeric_limits<double>::infinity();
  };
  [[nodiscard]] int runs() const;
  void refine(std::uint64_t seed, Solution& solution) const;
  void keep(Solution solution);

  const Problem& problem_;
  Workers& workers_;
  std::vector<SlotTree::Pinned> pinned_;  // vertices, not ranks
  std::vector<SlotTree::Slot> start_;
  double start_cost_;
  Solution best_;
};

}  // namespace ranktree::core::place::engine
