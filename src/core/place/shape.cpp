#include "core/place/shape.h"

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/topo/tree.h"

namespace ranktree::core::place {
namespace {

// The usable part below an object; no leaves when there is none.
Shape gather(const topo::Tree& tree, topo::Object object) {
  Shape shape;
  if (tree.child_count(object) == 0) {
    shape.leaf = tree.first_leaf(object);
    shape.leaves = tree.allowed(shape.leaf) ? 1 : 0;
    return shape;
  }
  shape.leaves = 0;
  for (int i = 0; i < tree.child_count(object); ++i) {
    Shape child = gather(tree, tree.first_child(object) + i);
    if (child.leaves == 0) continue;
    shape.leaves += child.leaves;
    shape.children.push_back(std::move(child));
  }
  if (shape.children.size() != 1) return shape;
  Shape only = std::move(shape.children.front());
  return only;
}

// Whether `shape` has the arities from `depth` on; the first visit of a depth sets its arity.
bool follows(const Shape& shape, std::size_t depth, std::vector<int>& arities, std::size_t& leaf_depth) {
  if (shape.children.empty()) {
    if (leaf_depth == 0) leaf_depth = depth + 1;
    return leaf_depth == depth + 1;
  }
  const int arity = static_cast<int>(shape.children.size());
  if (depth == arities.size()) arities.push_back(arity);
  if (arities[depth] != arity) return false;
  for (const Shape& child : shape.children) {
    if (!follows(child, depth + 1, arities, leaf_depth)) return false;
  }
  return true;
}

}  // namespace

Shape shape_of(const topo::Tree& tree) {
  Shape shape = gather(tree, 0);
  if (shape.leaves == 0) throw Error(Fault::kMismatch, "machine: no slot is allowed");
  return shape;
}

std::optional<std::vector<int>> uniform_arities(const Shape& shape) {
  std::vector<int> arities;
  std::size_t leaf_depth = 0;
  if (!follows(shape, 0, arities, leaf_depth)) return std::nullopt;
  return arities;
}

}  // namespace ranktree::core::place
