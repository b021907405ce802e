// What placements of whole matrices cost, and cannot cost less than.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <sstream>
#include <variant>
#include <vector>

#include "core/base/error.h"
#include "core/base/index.h"
#include "core/pattern/matrix.h"
#include "core/pattern/pattern.h"
#include "core/place/bound.h"
#include "core/place/dense.h"
#include "core/place/placement.h"
#include "core/topo/tree.h"

namespace ranktree::core::place {
namespace {

using pattern::MatrixView;
using pattern::Rank;
using topo::Object;
using topo::Tree;

template <class Number>
void check(const MatrixView<Number>& matrix) {
  for (Rank from = 0; from < matrix.ranks; ++from) {
    const Number* row = matrix.row(from);
    const auto sound = [](Number value) { return value >= 0 && std::isfinite(value); };
    if (std::all_of(row, row + matrix.ranks, sound)) continue;
    for (Rank to = 0; to < matrix.ranks; ++to) {
      if (to == from || sound(row[to])) continue;
      std::ostringstream text;
      text << "pattern[" << from << ", " << to << "]: expected a finite number, at least 0, found " << row[to];
      throw Error(Fault::kInput, text.str());
    }
  }
}

// Ranks in the order of their leaves, so that those below an object are consecutive.
class Order {
 public:
  Order(const Tree& tree, const Placement& placement) : tree_(tree), order_(placement.leaf_of.size()) {
    std::iota(order_.begin(), order_.end(), 0);
    const auto& leaf_of = placement.leaf_of;
    std::stable_sort(order_.begin(), order_.end(), [&](Rank a, Rank b) { return leaf_of[at(a)] < leaf_of[at(b)]; });
    before_.assign(at(tree.leaf_count()) + 1, 0);
    for (const topo::Leaf leaf : leaf_of) ++before_[at(leaf) + 1];
    std::partial_sum(before_.begin(), before_.end(), before_.begin());
  }

  // Positions of the ranks below an object.
  [[nodiscard]] std::size_t begin(Object object) const { return before_[at(tree_.first_leaf(object))]; }
  [[nodiscard]] std::size_t end(Object object) const {
    return before_[at(tree_.first_leaf(object)) + at(tree_.leaves_below(object))];
  }

  template <class Number>
  [[nodiscard]] double sum(const Number* row, std::size_t begin, std::size_t end) const {
    double sum = 0;
    for (std::size_t i = begin; i < end; ++i) sum += row[order_[i]];
    return sum;
  }
  template <class Number>
  [[nodiscard]] double sum_without(Rank own, const Number* row, std::size_t begin, std::size_t end) const {
    double sum = 0;
    for (std::size_t i = begin; i < end; ++i) sum += order_[i] == own ? 0 : row[order_[i]];
    return sum;
  }

 private:
  const Tree& tree_;
  std::vector<Rank> order_;
  std::vector<std::size_t> before_;  // leaf -> ranks on the leaves before it
};

template <class Number>
Cost cost_of(const Tree& tree, const MatrixView<Number>& matrix, const Placement& placement) {
  const Order order(tree, placement);
  Cost cost{std::vector<double>(at(tree.level_count()), 0), 0};
  for (Rank rank = 0; rank < matrix.ranks; ++rank) {
    const Number* row = matrix.row(rank);
    Object object = tree.leaf_object(placement.leaf_of[at(rank)]);
    std::size_t begin = order.begin(object);
    std::size_t end = order.end(object);
    cost.weight.back() += order.sum_without(rank, row, begin, end);
    for (object = tree.parent(object); object >= 0; object = tree.parent(object)) {
      const std::size_t low = order.begin(object);
      const std::size_t high = order.end(object);
      cost.weight[at(tree.level_of(object))] += order.sum(row, low, begin) + order.sum(row, end, high);
      begin = low;
      end = high;
    }
  }
  for (int level = 0; level < tree.level_count(); ++level) cost.total += cost.weight[at(level)] * tree.cost(level);
  return cost;
}

// What each rank exchanges with every other, both directions, some ranks at a time: columns are read in pieces of cache
// lines.
template <class Number, class Visit>
void visit_exchanges(const MatrixView<Number>& matrix, Visit visit) {
  constexpr Rank kBlock = 32;
  std::vector<std::vector<double>> rows(at(kBlock));
  for (Rank first = 0; first < matrix.ranks; first += kBlock) {
    const Rank count = std::min(kBlock, matrix.ranks - first);
    for (Rank i = 0; i < count; ++i) {
      const Number* row = matrix.row(first + i);
      rows[at(i)].assign(row, row + matrix.ranks);
    }
    for (Rank other = 0; other < matrix.ranks; ++other) {
      const Number* row = matrix.row(other) + first;
      for (Rank i = 0; i < count; ++i) rows[at(i)][at(other)] += row[i];
    }
    for (Rank i = 0; i < count; ++i) {
      rows[at(i)].erase(rows[at(i)].begin() + (first + i));
      visit(rows[at(i)]);
    }
  }
}

}  // namespace

void check_matrix(const pattern::Matrix& matrix) {
  std::visit([](const auto& view) { check(view); }, matrix);
}

Cost evaluate(const Tree& tree, const pattern::Matrix& matrix, const Placement& placement) {
  return std::visit([&](const auto& view) { return cost_of(tree, view, placement); }, matrix);
}

double lower_bound(const Tree& tree, const pattern::Matrix& matrix, const Constraints& constraints) {
  require_slots(tree, pattern::ranks_of(matrix), constraints);
  LeavingBound bound(tree, constraints);
  const auto add = [&](std::vector<double>& weights) { bound.add(weights); };
  std::visit([&](const auto& view) { visit_exchanges(view, add); }, matrix);
  return bound.cost();
}

}  // namespace ranktree::core::place
