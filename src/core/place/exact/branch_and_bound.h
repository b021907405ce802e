// Which of a few ranks go to which node of a network, by branch and bound.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

namespace ranktree::core::place::exact {

using Ranks = std::uint32_t;  // a set: bit i is rank i

inline constexpr double kImpossible = std::numeric_limits<double>::infinity();  // the cost of what there is no slot for

struct Assignment {
  int ranks;
  int nodes;
  std::vector<double> weights;  // of each two ranks, row by row
  std::vector<const std::vector<double>*>
      inside;                   // by node: the cost of each set of ranks there; infinite: too few slots
  std::vector<double> nearest;  // by node: the least distance of two ranks inside
  std::vector<int> capacity;    // by node
  std::vector<Ranks> pinned;    // by node
  std::function<double(int node, int other)> between;  // two nodes that differ
  bool alike = false;                                  // all nodes have the same distances
};

// The node of each rank in the cheapest assignment that costs less than `bound`; nothing where there is none. Ranks are
// assigned one after another, each to the node where it adds least first. The cost of the remaining ranks is bounded:
// each counts its weight to the assigned ranks on its best node, and half of its weight to the others, the heaviest
// pairs at the slots nearest to that node (the bound of Gilmore and Lawler for the quadratic assignment problem,
// without its assignment of ranks to different nodes). Stops after a limited number of counted steps, or when `go_on`,
// called from time to time, returns false, with the best found so far.
std::optional<std::vector<int>> assign(const Assignment& assignment, double bound, const std::function<bool()>& go_on);

}  // namespace ranktree::core::place::exact
