// The cost of placements, and their refinement, behind one interface for lists and matrices, trees and networks.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/workers.h"
#include "core/place/engine/context.h"
#include "core/place/graph/graph.h"
#include "core/place/refine/swap_search.h"
#include "core/place/slots/slot_tree.h"

namespace ranktree::core::place::engine {

// Placements are by vertex of the problem. Any thread may call.
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

// Lists of pairs on the levels of a tree.
class ListsOnTree : public Objective {
 public:
  // All must outlive this.
  ListsOnTree(const SlotTree& tree, const Graph& graph, const Context& context, Workers& workers)
      : tree_(tree), graph_(graph), context_(context), workers_(workers) {}

  [[nodiscard]] double cost(const std::vector<SlotTree::Slot>& slot_of) const override {
    return cost_of(tree_, graph_, slot_of, workers_);
  }
  void improve(std::uint64_t seed, std::vector<SlotTree::Slot>& slot_of) const override {
    search_by_swaps(tree_, graph_, context_, seed, workers_, slot_of);
  }

 private:
  const SlotTree& tree_;
  const Graph& graph_;
  const Context& context_;
  Workers& workers_;
};

}  // namespace ranktree::core::place::engine
