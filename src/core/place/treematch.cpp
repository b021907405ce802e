#include "core/place/treematch.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <queue>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/index.h"
#include "core/pattern/affinity.h"
#include "core/place/grouping.h"
#include "core/place/placement.h"
#include "core/place/shape.h"
#include "core/topo/tree.h"

namespace ranktree::core::place {
namespace {

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

// Grows one part after another over a matrix in which all items take part.
class Grower {
 public:
  explicit Grower(const Affinity& matrix)
      : matrix_(matrix), total_(at(matrix.ranks), 0), tie_(at(matrix.ranks), 0), free_(at(matrix.ranks), true) {
    for (Item item = 0; item < matrix.ranks; ++item) {
      const auto weights = matrix.weights_of(item);
      total_[at(item)] = std::accumulate(weights.begin(), weights.end(), 0.0);
      seeds_.push_back(item);
    }
    std::stable_sort(seeds_.begin(), seeds_.end(), [&](Item a, Item b) { return total_[at(a)] > total_[at(b)]; });
  }

  Group grow(std::int64_t capacity) {
    Group part;
    std::fill(tie_.begin(), tie_.end(), 0);
    heap_ = {};
    while (static_cast<std::int64_t>(part.size()) < capacity) {
      const Item item = next();
      if (item < 0) break;
      free_[at(item)] = false;
      part.push_back(item);
      const auto others = matrix_.neighbours(item);
      for (std::size_t i = 0; i < others.size(); ++i) {
        if (!free_[at(others[i])]) continue;
        tie_[at(others[i])] += matrix_.weights_of(item)[i];
        heap_.emplace(tie_[at(others[i])], total_[at(others[i])], -others[i]);
      }
    }
    std::sort(part.begin(), part.end());
    return part;
  }

 private:
  // The free item most strongly tied to the part, else the next seed; -1 when none is left.
  Item next() {
    while (!heap_.empty()) {
      const Item item = -std::get<2>(heap_.top());
      const bool current = free_[at(item)] && std::get<0>(heap_.top()) == tie_[at(item)];
      heap_.pop();
      if (current) return item;
    }
    while (seed_ < seeds_.size() && !free_[at(seeds_[seed_])]) ++seed_;
    return seed_ < seeds_.size() ? seeds_[seed_] : -1;
  }

  const Affinity& matrix_;
  std::vector<double> total_, tie_;
  std::vector<bool> free_;
  std::vector<Item> seeds_;
  std::size_t seed_ = 0;
  std::priority_queue<std::tuple<double, double, Item>> heap_;
};

}  // namespace

std::vector<Group> grow_parts(const Affinity& matrix, const Group& processes,
                              std::span<const std::int64_t> capacities) {
  std::vector<std::size_t> order(capacities.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return capacities[a] > capacities[b]; });
  const Affinity inside = restrict_matrix(matrix, processes);
  Grower grower(inside);
  std::vector<Group> parts(capacities.size());
  for (const std::size_t index : order) {
    parts[index] = grower.grow(capacities[index]);
    for (Item& item : parts[index]) item = processes[at(item)];
  }
  return parts;
}

Affinity restrict_matrix(const Affinity& matrix, const Group& processes) {
  std::vector<Item> number(at(matrix.ranks), -1);
  for (std::size_t i = 0; i < processes.size(); ++i) number[at(processes[i])] = static_cast<Item>(i);
  Affinity result;
  result.ranks = static_cast<Item>(processes.size());
  for (const Item process : processes) {
    const auto others = matrix.neighbours(process);
    for (std::size_t i = 0; i < others.size(); ++i) {
      if (number[at(others[i])] < 0) continue;
      result.indices.push_back(number[at(others[i])]);
      result.weights.push_back(matrix.weights_of(process)[i]);
    }
    result.indptr.push_back(static_cast<std::int64_t>(result.indices.size()));
  }
  return result;
}

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
