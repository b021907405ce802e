#include "core/place/treematch.h"

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/pattern/affinity.h"
#include "core/place/grouping.h"
#include "core/place/growth.h"
#include "core/place/placement.h"
#include "core/place/shape.h"
#include "core/topo/tree.h"

namespace ranktree::core::place {
namespace {

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

// §4.1 GroupProcesses, or §4.2.2 where there are too many possible groups. One group needs no search.
Grouping make_groups(const Affinity& matrix, int arity, const TreeMatchOptions& options) {
  if (matrix.ranks == arity) {
    Group all(at(arity));
    std::iota(all.begin(), all.end(), 0);
    return {all};
  }
  if (group_count(matrix.ranks, arity) >= options.group_threshold) {
    return fast_group_processes(matrix, arity, options.buckets, options.seed);
  }
  return group_processes(matrix, arity, options.degree_threshold);
}

// What a subtree of the machine and its processes share while they are placed.
class Placer {
 public:
  Placer(const pattern::Affinity& affinity, const TreeMatchOptions& options)
      : affinity_(affinity), options_(options), placement_{std::vector<topo::Leaf>(at(affinity.ranks), -1)} {}

  // Places `processes` (ascending) below `shape`, whose slots suffice.
  void place(const Shape& shape, const Group& processes) {
    if (processes.empty()) return;
    if (auto arities = uniform_arities(shape)) {
      place_symmetric(shape, std::move(*arities), processes);
      return;
    }
    std::vector<std::int64_t> capacities;
    capacities.reserve(shape.children.size());
    for (const Shape& child : shape.children) capacities.push_back(child.leaves * options_.constraints.capacity);
    const auto parts = grow_parts(affinity_, processes, capacities);
    for (std::size_t i = 0; i < parts.size(); ++i) place(shape.children[i], parts[i]);
  }

  [[nodiscard]] Placement take() { return std::move(placement_); }

 private:
  void place_symmetric(const Shape& shape, std::vector<int> arities, const Group& processes) {
    if (options_.constraints.capacity > 1) arities.push_back(options_.constraints.capacity);
    if (options_.divide_arities) arities = divide_arities(arities);
    const bool whole = processes.size() == at(affinity_.ranks);
    const auto steps = treematch_steps(arities, whole ? affinity_ : restrict_matrix(affinity_, processes), options_);
    std::vector<topo::Leaf> leaves;
    collect_leaves(shape, leaves);
    const auto slots = map_groups(steps, static_cast<Item>(processes.size()));
    for (std::size_t i = 0; i < processes.size(); ++i) {
      placement_.leaf_of[at(processes[i])] = leaves[at(slots[i] / options_.constraints.capacity)];
    }
  }

  static void collect_leaves(const Shape& shape, std::vector<topo::Leaf>& leaves) {
    if (shape.children.empty()) leaves.push_back(shape.leaf);
    for (const Shape& child : shape.children) collect_leaves(child, leaves);
  }

  const pattern::Affinity& affinity_;
  const TreeMatchOptions& options_;
  Placement placement_;
};

// Walks the hierarchy of groups down; items that no deeper step made are artificial and place nothing.
class Mapper {
 public:
  Mapper(std::span<const TreeMatchStep> steps, Item processes)
      : steps_(steps), processes_(processes), slots_(at(processes), 0), width_(steps.size() + 1, 1) {
    for (std::size_t i = 0; i < steps.size(); ++i) width_[i + 1] = width_[i] * steps[i].arity;
  }

  // `item` belongs to the groups of steps[height - 1]; height 0 is a process.
  void walk(std::size_t height, Item item, std::int64_t slot) {
    if (height == 0) {
      if (item < processes_) slots_[at(item)] = slot;
      return;
    }
    const Grouping& groups = steps_[height - 1].groups;
    if (at(item) >= groups.size()) return;
    for (const Item member : groups[at(item)]) {
      walk(height - 1, member, slot);
      slot += width_[height - 1];
    }
  }

  [[nodiscard]] std::vector<std::int64_t> take() { return std::move(slots_); }

 private:
  std::span<const TreeMatchStep> steps_;
  Item processes_;
  std::vector<std::int64_t> slots_;
  std::vector<std::int64_t> width_;  // slots below one item, by height
};

}  // namespace

std::vector<TreeMatchStep> treematch_steps(std::span<const int> arities, const pattern::Affinity& affinity,
                                           const TreeMatchOptions& options) {
  std::vector<TreeMatchStep> steps;
  Affinity matrix = affinity;
  for (std::size_t depth = arities.size(); depth-- > 0;) {
    TreeMatchStep step;
    step.arity = arities[depth];
    step.matrix = matrix.ranks % step.arity == 0 ? std::move(matrix) : extend_matrix(matrix, step.arity);
    step.groups = make_groups(step.matrix, step.arity, options);
    matrix = aggregate_matrix(step.matrix, step.groups);
    steps.push_back(std::move(step));
  }
  return steps;
}

std::vector<std::int64_t> map_groups(std::span<const TreeMatchStep> steps, Item processes) {
  Mapper mapper(steps, processes);
  mapper.walk(steps.size(), 0, 0);
  return mapper.take();
}

Placement treematch(const topo::Tree& tree, const pattern::Affinity& affinity, const TreeMatchOptions& options) {
  require_slots(tree, affinity.ranks, options.constraints);
  if (!options.constraints.pins.empty()) {
    throw Error(Fault::kUnsupported, "treematch: expected no pinned ranks, found " +
                                         std::to_string(options.constraints.pins.size()) +
                                         ": take another algorithm, such as engine");
  }
  Placer placer(affinity, options);
  Group all(at(affinity.ranks));
  std::iota(all.begin(), all.end(), 0);
  placer.place(shape_of(tree), all);
  return placer.take();
}

}  // namespace ranktree::core::place
