#include "core/place/network/distances.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "core/base/index.h"
#include "core/place/placement.h"
#include "core/topo/tree.h"

namespace ranktree::core::place::network {
namespace {

constexpr int kTableNodes = 1024;         // up to so many nodes, all their distances are kept: 8 MB
constexpr std::size_t kTableSlots = 512;  // and those of all slots in a node of so many

}  // namespace

Distances::Distances(const topo::Tree& tree, const Constraints& constraints) : tree_(&tree), node_link_(tree.cost(1)) {
  collect_slots(constraints);
  compare_nodes();
  if (nodes() <= kTableNodes) {
    std::vector<double> table(at(nodes()) * at(nodes()), 0);
    for (int a = 0; a < nodes(); ++a) {
      for (int b = 0; b < nodes(); ++b) {
        if (a != b) table[at(a) * at(nodes()) + at(b)] = node_link_ + interconnect().distance(a, b);
      }
    }
    table_ = std::move(table);
  }
  find_least();
}

void Distances::collect_slots(const Constraints& constraints) {
  for (int node = 0; node < tree_->child_count(0); ++node) {
    const topo::Object object = tree_->first_child(0) + node;
    first_slot_.push_back(slots());
    const topo::Leaf end = tree_->first_leaf(object) + tree_->leaves_below(object);
    for (topo::Leaf leaf = tree_->first_leaf(object); leaf < end; ++leaf) {
      if (!tree_->allowed(leaf)) continue;
      leaf_.insert(leaf_.end(), at(constraints.capacity), leaf);
      node_.insert(node_.end(), at(constraints.capacity), node);
    }
  }
  first_slot_.push_back(slots());
}

void Distances::compare_nodes() {
  std::map<std::pair<Slot, std::vector<int>>, int> known;
  for (int node = 0; node < nodes(); ++node) {
    std::vector<int> common;
    for (Slot slot = first_slot(node) + 1; slot < first_slot(node) + capacity(node); ++slot) {
      common.push_back(tree_->common_level(leaf(slot - 1), leaf(slot)));
    }
    const auto [found, added] = known.try_emplace({capacity(node), common}, static_cast<int>(forms_.size()));
    form_.push_back(found->second);
    if (!added) continue;
    forms_.push_back({std::move(common), {}, true});
    finish(forms_.back());
  }
}

// Slots are in the order of the tree, so the common level of two of them is the highest one of all neighbours between
// them.
void Distances::finish(Form& form) const {
  const std::size_t count = form.common.size() + 1;
  const auto levels = at(tree_->level_count());
  std::vector<int> first;
  if (count <= kTableSlots) form.cost.assign(count * count, 0);
  for (std::size_t i = 0; i < count && (count <= kTableSlots || form.uniform); ++i) {
    std::vector<int> seen(levels, 0);
    const auto count_level = [&](std::size_t other, int level) {
      ++seen[at(level)];
      if (!form.cost.empty()) form.cost[i * count + other] = tree_->cost(level);
    };
    int level = tree_->level_count() - 1;
    for (std::size_t j = i + 1; j < count; ++j) count_level(j, level = std::min(level, form.common[j - 1]));
    level = tree_->level_count() - 1;
    for (std::size_t j = i; j-- > 0;) count_level(j, level = std::min(level, form.common[j]));
    if (i == 0) first = seen;
    form.uniform = form.uniform && seen == first;
  }
}

int Distances::level_inside(Slot a, Slot b) const { return tree_->common_level(leaf(a), leaf(b)); }

double Distances::inside(Slot a, Slot b) const {
  const int home = node(a);
  const Form& form = forms_[at(form_[at(home)])];
  if (form.cost.empty()) return tree_->cost(level_inside(a, b));
  return form.cost[at(a - first_slot(home)) * (form.common.size() + 1) + at(b - first_slot(home))];
}

void Distances::find_least() {
  double least = std::numeric_limits<double>::infinity();
  for (const Form& form : forms_) {
    for (const int level : form.common) least = std::min(least, tree_->cost(level));
  }
  if (nodes() > 1) least = std::min(least, node_link_ + interconnect().nearest());
  least_ = least == std::numeric_limits<double>::infinity() ? 0 : least;
}

std::vector<Slot> Distances::slots_of(const Placement& placement) const {
  std::vector<Slot> next(at(tree_->leaf_count()), -1);
  for (Slot slot = slots(); slot-- > 0;) next[at(leaf(slot))] = slot;
  std::vector<Slot> result;
  result.reserve(placement.leaf_of.size());
  for (const topo::Leaf leaf : placement.leaf_of) result.push_back(next[at(leaf)]++);
  return result;
}

Placement Distances::placement_of(std::span<const Slot> slots) const {
  Placement placement;
  placement.leaf_of.reserve(slots.size());
  for (const Slot slot : slots) placement.leaf_of.push_back(leaf(slot));
  return placement;
}

}  // namespace ranktree::core::place::network
