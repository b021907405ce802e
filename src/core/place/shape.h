// The structure of the allowed part of a machine tree, without forbidden leaves and levels that do not branch.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/topo/tree.h"

namespace ranktree::core::place {

struct Shape {
  topo::Leaf leaf = -1;         // of a leaf
  std::vector<Shape> children;  // two or more, or none
  std::int64_t leaves = 1;
};

// The shape below the root; a single leaf when only one may be used. Throws Error(kMismatch) when none may. O(objects).
Shape shape_of(const topo::Tree& tree);

// The arities by level, root first, when all siblings are alike at every depth; nothing for unequal trees.
std::optional<std::vector<int>> uniform_arities(const Shape& shape);

}  // namespace ranktree::core::place
