// Local search on the true cost: swaps the contents of two subtrees, or moves the contents of one to an empty one.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/random.h"
#include "core/base/workers.h"
#include "core/place/engine/context.h"
#include "core/place/graph/graph.h"
#include "core/place/slots/slot_tree.h"

namespace ranktree::core::place::engine {

// The contents of each occupied group of a level as one vertex, numbered in the order of the ranks.
struct Contents {
  Vertex vertices = 0;
  std::vector<Vertex> vertex_of;  // by rank
  Graph graph;
};

// Without the graph.
Contents contents_of(const SlotTree& tree, int level, const std::vector<SlotTree::Slot>& slot_of);

struct ExchangeSearch {
  const SlotTree& tree;
  const Context& context;
  Random& random;
  Workers& workers;
};

// Swaps the contents of groups of the same form, from level 2 down to `lowest`, whose contents are given, while the
// cost falls.
void search_groups(const ExchangeSearch& search, int lowest, Contents contents, std::vector<SlotTree::Slot>& slot_of);

// Never makes a placement more expensive: on every level from the top, the contents of groups of the same form are
// swapped while that helps; partners are searched in the groups that hold neighbours.
void search_by_swaps(const SlotTree& tree, const Graph& graph, const Context& context, std::uint64_t seed,
                     Workers& workers, std::vector<SlotTree::Slot>& slot_of);

// The cost of a placement, each pair once.
double cost_of(const SlotTree& tree, const Graph& graph, const std::vector<SlotTree::Slot>& slot_of, Workers& workers);

}  // namespace ranktree::core::place::engine
