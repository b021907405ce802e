#include "core/place/growth.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <queue>
#include <span>
#include <tuple>
#include <vector>

#include "core/place/grouping.h"

namespace ranktree::core::place {
namespace {

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

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

}  // namespace ranktree::core::place
