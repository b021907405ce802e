#include "core/reorder/division.h"

#include <cstddef>
#include <cstdlib>
#include <vector>

#include "core/reorder/positions.h"
#include "core/topo/tree.h"

namespace ranktree::core::reorder {
namespace {

using topo::Object;
using topo::Tree;

bool holds(const Tree& tree, Object object, const Part& part) {
  return tree.first_leaf(object) <= part.first &&
         part.first + part.count <= tree.first_leaf(object) + tree.leaves_below(object);
}

// The lowest object that holds all of the part. O(depth x children).
Object lowest_over(const Tree& tree, const Part& part) {
  Object object = 0;
  for (int i = 0; i < tree.child_count(object);) {
    const Object child = tree.first_child(object) + i++;
    if (!holds(tree, child, part)) continue;
    object = child;
    i = 0;
  }
  return object;
}

// The first leaf of the right half: where a child starts, as near to the middle as can be (ties: the left one).
int middle_of(const Tree& tree, const Part& part) {
  const Object object = lowest_over(tree, part);
  const auto distance = [&part](int leaf) { return std::abs(2 * (leaf - part.first) - part.count); };
  int best = part.first;
  for (int i = 0; i < tree.child_count(object); ++i) {
    const int leaf = tree.first_leaf(tree.first_child(object) + i);
    if (leaf > part.first && leaf < part.first + part.count && distance(leaf) < distance(best)) best = leaf;
  }
  return best;
}

}  // namespace

std::vector<Part> divide(const Positions& positions, int largest) {
  const auto leader = [&positions](int leaf) { return positions.rank_at_leaf[static_cast<std::size_t>(leaf)]; };
  std::vector<Part> parts{{0, positions.tree.leaf_count(), leader(0), 0}};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Part part = parts[i];
    if (part.count <= largest) continue;
    const int middle = middle_of(positions.tree, part);
    parts[i].left = static_cast<int>(parts.size());
    parts[i].right = parts[i].left + 1;
    parts.push_back({part.first, middle - part.first, leader(part.first), part.depth + 1});
    parts.push_back({middle, part.first + part.count - middle, leader(middle), part.depth + 1});
  }
  return parts;
}

}  // namespace ranktree::core::reorder
