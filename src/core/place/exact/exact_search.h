// The cheapest placement of a few ranks, by dynamic programming over sets of ranks.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "core/base/workers.h"
#include "core/place/graph/graph.h"
#include "core/place/slots/slot_tree.h"

namespace ranktree::core::place::exact {

constexpr engine::Vertex kMostRanks = 8;
constexpr engine::SlotTree::Group kMostNodes = 1024;  // of a network; larger ones are not searched

// The distances of the groups below the root, where the network that joins them is no tree.
struct Network {
  std::function<double(engine::SlotTree::Group, engine::SlotTree::Group)> between;
  bool alike = false;  // all groups have the same distances
};

// A cheapest placement of at most kMostRanks vertices; `start` has the slots of pinned ones. From the slots
// upwards, finds the cost of every set of ranks inside every group that differs: the ranks of a set are shared out to
// the children, and traffic between two children costs the same wherever in them its ends are. O(3^ranks) a child of
// each group that differs, up to as many alike as there are ranks. Nothing when the workers are to stop.
std::optional<std::vector<engine::SlotTree::Slot>> cheapest(const engine::SlotTree& tree, const engine::Graph& graph,
                                                            Workers& workers,
                                                            const std::vector<engine::SlotTree::Slot>& start);

// The same where a network joins the groups below the root: which rank goes to which group is found by branch and bound
// (branch_and_bound.h). Nothing where no placement costs less than `bound`, or the workers are to stop, or there are
// more than kMostNodes groups. Stops after counted steps, some tenths of a second, with the cheapest placement found
// so far: networks of regular form do not take so long, tables of random distances between more than some 60 nodes may.
std::optional<std::vector<engine::SlotTree::Slot>> cheapest(const engine::SlotTree& tree, const engine::Graph& graph,
                                                            const Network& network, double bound, Workers& workers,
                                                            const std::vector<engine::SlotTree::Slot>& start);

}  // namespace ranktree::core::place::exact
