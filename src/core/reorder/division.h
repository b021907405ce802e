// The tree's top levels, halved again and again until the parts are small enough for one process each.
#pragma once

#include <vector>

#include "core/reorder/positions.h"

namespace ranktree::core::reorder {

// Consecutive children of one object of the tree, or one object: the leaves first .. first + count - 1.
struct Part {
  int first = 0;
  int count = 0;
  int leader = 0;  // the rank at the first leaf
  int depth = 0;   // of the part in the plan
  int left = -1;   // the two parts it is divided into, -1 where it is not
  int right = -1;
};

// Part 0 is everything; a part precedes those it is divided into. Children are never cut: where one object has most of
// the leaves the halves are unequal. Parts of at most `largest` leaves, at least 1, stay whole. O(parts x children).
std::vector<Part> divide(const Positions& positions, int largest);

}  // namespace ranktree::core::reorder
