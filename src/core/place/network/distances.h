// The distance of two slots on a machine whose network is no tree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/index.h"
#include "core/pattern/pattern.h"
#include "core/place/placement.h"
#include "core/topo/interconnect.h"
#include "core/topo/tree.h"

namespace ranktree::core::place::network {

using Slot = std::int32_t;

// Slots are the allowed leaves in logical order, each `capacity` times; those of a node are consecutive.
class Distances {
 public:
  // The tree has an interconnect and must outlive this. O(leaves x depth + nodes^2 up to 1,024 nodes).
  Distances(const topo::Tree& tree, const Constraints& constraints);

  [[nodiscard]] const topo::Tree& tree() const { return *tree_; }
  [[nodiscard]] const topo::Interconnect& interconnect() const { return *tree_->interconnect(); }
  [[nodiscard]] int nodes() const { return static_cast<int>(first_slot_.size()) - 1; }
  [[nodiscard]] Slot slots() const { return static_cast<Slot>(leaf_.size()); }
  [[nodiscard]] topo::Leaf leaf(Slot slot) const { return leaf_[at(slot)]; }
  [[nodiscard]] int node(Slot slot) const { return node_[at(slot)]; }
  [[nodiscard]] Slot first_slot(int node) const { return first_slot_[at(node)]; }
  [[nodiscard]] Slot capacity(int node) const { return first_slot_[at(node) + 1] - first_slot_[at(node)]; }

  // Nodes of the same form can be swapped as they are: their slots are as far from each other.
  [[nodiscard]] int form(int node) const { return form_[at(node)]; }
  // True when the distances to the other slots are the same for all slots of a node of this form.
  [[nodiscard]] bool uniform(int form) const { return forms_[at(form)].uniform; }

  // The distance of two different nodes, with the links between each of them and its switch.
  [[nodiscard]] double between(int a, int b) const {
    if (!table_.empty()) return table_[at(a) * at(nodes()) + at(b)];
    return node_link_ + interconnect().distance(a, b);
  }
  [[nodiscard]] double distance(Slot a, Slot b) const {
    return node(a) == node(b) ? inside(a, b) : between(node(a), node(b));
  }
  // The level of the lowest common ancestor of two slots of one node.
  [[nodiscard]] int level_inside(Slot a, Slot b) const;
  // The least distance of two different slots.
  [[nodiscard]] double least() const { return least_; }

  [[nodiscard]] std::vector<Slot> slots_of(const Placement& placement) const;
  [[nodiscard]] Placement placement_of(std::span<const Slot> slots) const;

 private:
  struct Form {
    std::vector<int> common;   // the common level of each slot but the first with the one before
    std::vector<double> cost;  // of two slots, row by row; empty where there are too many
    bool uniform = true;
  };
  [[nodiscard]] double inside(Slot a, Slot b) const;
  void collect_slots(const Constraints& constraints);
  void compare_nodes();
  void finish(Form& form) const;
  void find_least();

  const topo::Tree* tree_;
  double node_link_ = 0;  // from a node to its switch and from the switch to the other node
  double least_ = 0;
  std::vector<topo::Leaf> leaf_;
  std::vector<int> node_;
  std::vector<Slot> first_slot_;
  std::vector<int> form_;
  std::vector<Form> forms_;
  std::vector<double> table_;
};

}  // namespace ranktree::core::place::network
