#include "core/place/bound.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/index.h"
#include "core/pattern/affinity.h"
#include "core/pattern/pattern.h"
#include "core/place/network/network_bound.h"
#include "core/place/placement.h"
#include "core/topo/tree.h"

namespace ranktree::core::place {
namespace {

using pattern::Rank;
using topo::Leaf;
using topo::Object;
using topo::Tree;

using Level = LeavingBound::Level;

// allowed[leaf] is the number of allowed leaves before it.
std::vector<std::int64_t> count_allowed(const Tree& tree) {
  std::vector<std::int64_t> allowed(at(tree.leaf_count()) + 1, 0);
  for (Leaf leaf = 0; leaf < tree.leaf_count(); ++leaf) {
    allowed[at(leaf) + 1] = allowed[at(leaf)] + (tree.allowed(leaf) ? 1 : 0);
  }
  return allowed;
}

// One entry for each level below the root, outermost first. An object that skips levels is a subtree of those it skips.
std::vector<Level> levels_of(const Tree& tree, const Constraints& constraints) {
  std::vector<Level> levels(at(tree.level_count()));
  const std::vector<std::int64_t> allowed = count_allowed(tree);
  for (Object object = 1; object < tree.object_count(); ++object) {
    const Leaf first = tree.first_leaf(object);
    const std::int64_t leaves = allowed[at(first + tree.leaves_below(object))] - allowed[at(first)];
    for (int level = tree.level_of(tree.parent(object)) + 1; level <= tree.level_of(object); ++level) {
      levels[at(level)].capacity = std::max(levels[at(level)].capacity, leaves * constraints.capacity);
    }
  }
  double lowest = tree.cost(0);
  for (int level = 1; level < tree.level_count(); ++level) {
    const double next = std::min(lowest, tree.cost(level));
    levels[at(level)].cost = lowest - next;
    lowest = next;
  }
  levels.erase(levels.begin());
  return levels;
}

// Adds what one rank exchanges beyond its heaviest pairs to each level; `weights` are reordered. The pairs that fit
// into a level's subtree are the only ones that the levels inside it need to look at.
void add_leaving(std::vector<double>& weights, std::vector<Level>& levels) {
  double outside = 0;
  auto end = weights.end();
  for (Level& level : levels) {
    const std::int64_t kept = std::max<std::int64_t>(level.capacity - 1, 0);
    if (kept < end - weights.begin()) {
      const auto middle = weights.begin() + kept;
      std::nth_element(weights.begin(), middle, end, std::greater<>());
      outside = std::accumulate(middle, end, outside);
      end = middle;
    }
    level.crossing += outside / 2;
  }
}

constexpr std::int64_t kWork = 2'000'000;  // arcs visited for one capacity
constexpr std::int64_t kReach = 4;         // times the capacity: best on three-dimensional grids, good on others
constexpr double kRounding = 1 - 1e-9;     // of the sums
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Bounds by routing: from each rank to the ranks nearest to it (a pair is as long as its weight is small) goes one unit
// along a shortest path. Of `reach` ranks at most `capacity` are in the part of the first, so at least reach - capacity
// units leave the part, each over a pair that the parts cut. The cut is at least the weight of the cheapest pairs that
// could carry all these units, relative to the units routed over them: the dual of the spreading metrics of G. Even,
// J. Naor, S. Rao, B. Schieber, Fast Approximate Graph Partitioning Algorithms, SIAM J. Comput. 28(6), 1999.
class Spreading {
 public:
  explicit Spreading(const pattern::Affinity& affinity);

  // No partition into parts of at most `capacity` ranks cuts less. The work is limited: a larger pattern or capacity
  // means fewer sources and a looser bound.
  double cut(std::int64_t capacity);

 private:
  // A rank that was reached, and the arc of the path to it.
  struct Reached {
    Rank rank;
    std::int64_t arc;
    std::int64_t units;
  };

  bool route(Rank source, std::int64_t capacity);
  void settle(Rank rank, double distance);
  [[nodiscard]] double cheapest(double units) const;

  const pattern::Affinity& affinity_;
  std::vector<std::int64_t> reverse_;   // by arc: the same pair from the other end
  std::vector<Rank> owner_;             // by arc: whose row it is in
  std::vector<double> load_;            // by arc: units routed over it
  std::vector<double> distance_;        // by rank, infinite where not seen
  std::vector<std::int64_t> arc_;       // by rank: the last of the path so far
  std::vector<std::int64_t> position_;  // by rank: index into reached_, -1 before
  std::vector<Rank> seen_;
  std::vector<Reached> reached_;
  std::vector<std::pair<double, Rank>> heap_;
  std::int64_t work_ = 0;
};

Spreading::Spreading(const pattern::Affinity& affinity)
    : affinity_(affinity),
      reverse_(affinity.indices.size()),
      owner_(affinity.indices.size()),
      distance_(at(affinity.ranks), kInfinity),
      arc_(at(affinity.ranks), -1),
      position_(at(affinity.ranks), -1) {
  // Rows ascend, so the arcs to one rank come in the order of its own row.
  std::vector<std::int64_t> next(affinity.indptr.begin(), affinity.indptr.end() - 1);
  for (Rank rank = 0; rank < affinity.ranks; ++rank) {
    for (auto arc = affinity.indptr[at(rank)]; arc < affinity.indptr[at(rank) + 1]; ++arc) {
      owner_[at(arc)] = rank;
      reverse_[at(arc)] = next[at(affinity.indices[at(arc)])]++;
    }
  }
}

double Spreading::cut(std::int64_t capacity) {
  const std::int64_t ranks = affinity_.ranks;
  const auto arcs = static_cast<std::int64_t>(affinity_.indices.size());
  if (capacity < 1 || capacity >= ranks || arcs == 0) return 0;
  load_.assign(affinity_.indices.size(), 0);
  work_ = 0;
  const double arcs_each = static_cast<double>(arcs) / static_cast<double>(ranks);
  const double work_each = arcs_each * static_cast<double>(std::min(ranks, kReach * capacity));
  const auto sources = std::clamp<std::int64_t>(static_cast<std::int64_t>(kWork / work_each), 1, ranks);
  double units = 0;
  for (std::int64_t i = 0; i < sources && work_ < 2 * kWork; ++i) {
    const auto source = static_cast<Rank>(i * ranks / sources);
    if (route(source, capacity)) units += static_cast<double>(static_cast<std::int64_t>(reached_.size()) - capacity);
  }
  return cheapest(units);
}

// Dijkstra from one rank until enough are reached; false when the whole component fits into one part.
bool Spreading::route(Rank source, std::int64_t capacity) {
  for (const Rank rank : seen_) {
    distance_[at(rank)] = kInfinity;
    position_[at(rank)] = -1;
  }
  seen_.clear();
  reached_.clear();
  heap_.clear();
  const std::size_t reach = at(std::min<std::int64_t>(affinity_.ranks, kReach * capacity));
  distance_[at(source)] = 0;
  arc_[at(source)] = -1;
  seen_.push_back(source);
  heap_.emplace_back(0, source);
  while (!heap_.empty() && reached_.size() < reach) {
    std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
    const auto [distance, rank] = heap_.back();
    heap_.pop_back();
    if (position_[at(rank)] < 0) settle(rank, distance);
  }
  if (static_cast<std::int64_t>(reached_.size()) <= capacity) return false;
  for (std::size_t i = reached_.size(); i-- > 1;) {
    const Reached& one = reached_[i];
    load_[at(one.arc)] += static_cast<double>(one.units);
    reached_[at(position_[at(owner_[at(one.arc)])])].units += one.units;
  }
  return true;
}

void Spreading::settle(Rank rank, double distance) {
  position_[at(rank)] = static_cast<std::int64_t>(reached_.size());
  reached_.push_back({rank, arc_[at(rank)], 1});
  const auto begin = affinity_.indptr[at(rank)];
  const auto end = affinity_.indptr[at(rank) + 1];
  work_ += end - begin;
  for (auto arc = begin; arc < end; ++arc) {
    const Rank other = affinity_.indices[at(arc)];
    const double length = distance + 1 / affinity_.weights[at(arc)];
    if (!(length < distance_[at(other)])) continue;
    if (distance_[at(other)] == kInfinity) seen_.push_back(other);
    distance_[at(other)] = length;
    arc_[at(other)] = arc;
    heap_.emplace_back(length, other);
    std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
  }
}

// The least weight of pairs over which so many units are routed, parts of pairs allowed.
double Spreading::cheapest(double units) const {
  struct Pair {
    double weight;
    double load;
  };
  std::vector<Pair> pairs;
  for (std::size_t arc = 0; arc < load_.size(); ++arc) {
    if (owner_[arc] > affinity_.indices[arc]) continue;
    const double load = load_[arc] + load_[at(reverse_[arc])];
    if (load > 0) pairs.push_back({affinity_.weights[arc], load});
  }
  std::sort(pairs.begin(), pairs.end(),
            [](const Pair& a, const Pair& b) { return a.weight / a.load < b.weight / b.load; });
  double weight = 0;
  for (const Pair& pair : pairs) {
    if (units <= 0) break;
    weight += pair.weight * std::min(1.0, units / pair.load);
    units -= pair.load;
  }
  return weight * kRounding;
}

constexpr std::size_t kMostArcs = std::size_t{1} << 24U;  // routing takes 20 bytes each

// Where most ranks' partners fit into a subtree, routing sees more than single ranks do.
void raise_by_spreading(const pattern::Affinity& affinity, std::vector<Level>& levels) {
  std::optional<Spreading> spreading;
  double outside = 0;
  for (Level& level : levels) {
    const auto arcs = static_cast<double>(affinity.indices.size());
    const bool sparse = affinity.indices.size() <= kMostArcs &&
                        arcs < static_cast<double>(level.capacity) * static_cast<double>(affinity.ranks);
    if (level.cost > 0 && sparse && level.capacity < affinity.ranks) {
      if (!spreading) spreading.emplace(affinity);
      level.crossing = std::max(level.crossing, spreading->cut(level.capacity));
    }
    level.crossing = outside = std::max(level.crossing, outside);
  }
}

}  // namespace

LeavingBound::LeavingBound(const Tree& tree, const Constraints& constraints) : levels_(levels_of(tree, constraints)) {}

void LeavingBound::add(std::vector<double>& weights) { add_leaving(weights, levels_); }

double LeavingBound::cost() const {
  double cost = 0;
  for (const Level& level : levels_) cost += level.crossing * level.cost;
  return cost;
}

double lower_bound(const Tree& tree, const pattern::Affinity& affinity, const Constraints& constraints) {
  require_slots(tree, affinity.ranks, constraints);
  LeavingBound bound(tree, constraints);
  std::vector<double> weights;
  for (pattern::Rank rank = 0; rank < affinity.ranks; ++rank) {
    const auto row = affinity.weights_of(rank);
    weights.assign(row.begin(), row.end());
    bound.add(weights);
  }
  raise_by_spreading(affinity, bound.levels());
  const double cost = bound.cost();
  // The level above the nodes costs as little as the nearest two, so that holds where the network is no tree, too.
  return tree.interconnect() == nullptr ? cost : std::max(cost, network::lower_bound(tree, affinity, constraints));
}

}  // namespace ranktree::core::place
