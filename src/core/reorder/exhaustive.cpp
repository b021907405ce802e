#include "core/reorder/exhaustive.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "core/pattern/affinity.h"
#include "core/pattern/pattern.h"
#include "core/place/placement.h"
#include "core/topo/tree.h"

namespace ranktree::core::reorder {
namespace {

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

// Equal for subtrees that are alike. Objects follow their parents, so children are known first from the end.
std::vector<int> likeness(const topo::Tree& tree) {
  std::vector<int> kind_of(at(tree.object_count()), 0);
  std::map<std::vector<int>, int> kinds;
  for (topo::Object object = tree.object_count() - 1; object >= 0; --object) {
    std::vector<int> children;
    children.reserve(at(tree.child_count(object)) + 1);
    for (int i = 0; i < tree.child_count(object); ++i) children.push_back(kind_of[at(tree.first_child(object) + i)]);
    std::sort(children.begin(), children.end());
    children.push_back(tree.level_of(object));
    kind_of[at(object)] = kinds.try_emplace(std::move(children), static_cast<int>(kinds.size())).first->second;
  }
  return kind_of;
}

class Search {
 public:
  Search(const topo::Tree& tree, const pattern::Affinity& affinity, double bound, std::int64_t steps)
      : tree_(tree), affinity_(affinity), kind_of_(likeness(tree)), bound_(bound), steps_(steps) {
    held_.resize(at(tree.object_count()), 0);
    leaf_of_.resize(at(affinity.ranks), -1);
    least_left_.resize(at(affinity.ranks) + 1, 0);
    const double nearest = cost_of_siblings();
    for (pattern::Rank rank = affinity.ranks; rank-- > 0;) {
      least_left_[at(rank)] = least_left_[at(rank) + 1] + nearest * weight_before(rank);
    }
  }

  std::optional<place::Placement> run() {
    assign(0, 0);
    return best_;
  }

 private:
  // What two leaves cost at least.
  [[nodiscard]] double cost_of_siblings() const {
    double least = std::numeric_limits<double>::infinity();
    for (int level = 0; level + 1 < tree_.level_count(); ++level) least = std::min(least, tree_.cost(level));
    return least;
  }

  // Of the links to ranks with smaller numbers.
  [[nodiscard]] double weight_before(pattern::Rank rank) const {
    double sum = 0;
    for (std::size_t i = 0; i < affinity_.neighbours(rank).size(); ++i) {
      if (affinity_.neighbours(rank)[i] < rank) sum += affinity_.weights_of(rank)[i];
    }
    return sum;
  }

  [[nodiscard]] double cost_before(pattern::Rank rank, topo::Leaf leaf) const {
    double sum = 0;
    for (std::size_t i = 0; i < affinity_.neighbours(rank).size(); ++i) {
      const pattern::Rank other = affinity_.neighbours(rank)[i];
      if (other < rank) sum += affinity_.weights_of(rank)[i] * tree_.distance(leaf, leaf_of_[at(other)]);
    }
    return sum;
  }

  // The leaves worth trying below an object.
  void offer(topo::Object object, std::vector<topo::Object>& leaves) const {
    if (tree_.child_count(object) == 0) {
      leaves.push_back(object);
      return;
    }
    std::set<int> empty;
    for (int i = 0; i < tree_.child_count(object); ++i) {
      const topo::Object child = tree_.first_child(object) + i;
      if (held_[at(child)] == tree_.leaves_below(child)) continue;
      if (held_[at(child)] == 0 && !empty.insert(kind_of_[at(child)]).second) continue;
      offer(child, leaves);
    }
  }

  void hold(topo::Object leaf, int change) {
    for (topo::Object object = leaf; object >= 0; object = tree_.parent(object)) held_[at(object)] += change;
  }

  void assign(pattern::Rank rank, double cost) {
    if (steps_ <= 0 || cost + least_left_[at(rank)] >= bound_) return;
    --steps_;
    if (rank == affinity_.ranks) {
      bound_ = cost;
      best_ = place::Placement{leaf_of_};
      return;
    }
    std::vector<topo::Object> leaves;
    offer(0, leaves);
    for (const topo::Object object : leaves) {
      const topo::Leaf leaf = tree_.first_leaf(object);
      leaf_of_[at(rank)] = leaf;
      hold(object, 1);
      assign(rank + 1, cost + cost_before(rank, leaf));
      hold(object, -1);
    }
  }

  const topo::Tree& tree_;
  const pattern::Affinity& affinity_;
  std::vector<int> kind_of_;
  std::vector<int> held_;            // ranks below each object
  std::vector<double> least_left_;   // what the links of this rank and later ones to smaller numbers cost at least
  std::vector<topo::Leaf> leaf_of_;  // of the ranks assigned so far
  double bound_;
  std::int64_t steps_;
  std::optional<place::Placement> best_;
};

}  // namespace

std::optional<place::Placement> search_all(const topo::Tree& tree, const pattern::Affinity& affinity, double bound,
                                           std::int64_t steps) {
  return Search(tree, affinity, bound, steps).run();
}

}  // namespace ranktree::core::reorder
