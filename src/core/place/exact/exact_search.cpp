#include "core/place/exact/exact_search.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/index.h"
#include "core/base/workers.h"
#include "core/place/exact/branch_and_bound.h"
#include "core/place/graph/graph.h"
#include "core/place/slots/slot_tree.h"

namespace ranktree::core::place::exact {
namespace {

using engine::Arc;
using engine::Graph;
using engine::SlotTree;
using engine::Vertex;
using Slot = SlotTree::Slot;
using Group = SlotTree::Group;

class ExactSearch {
 public:
  ExactSearch(const SlotTree& tree, const Graph& graph, Workers& workers, const std::vector<Slot>& slot_of)
      : tree_(tree), workers_(workers), sets_(std::size_t{1} << at(graph.vertices())) {
    add_between(graph);
    solved_.resize(at(tree.levels()) + 1);
    for (Vertex vertex = 0; vertex < graph.vertices(); ++vertex) {
      if (tree.held(tree.levels(), slot_of[at(vertex)])) pinned_[slot_of[at(vertex)]] = Ranks{1} << at(vertex);
    }
  }

  // Nothing when the time is up, or no placement costs what a double holds.
  std::optional<std::vector<Slot>> run() {
    if (!solve(0, 0) || solved_[0].at(key(0, 0)).cost.back() == kImpossible) return std::nullopt;
    std::vector<Slot> slot_of(at(std::countr_zero(sets_)));
    put(0, 0, static_cast<Ranks>(sets_ - 1), slot_of);
    return slot_of;
  }

  std::optional<std::vector<Slot>> run(const Graph& graph, const Network& network, double bound) {
    Assignment given{graph.vertices(), tree_.groups(1), {}, {}, {}, {}, {}, network.between, network.alike};
    given.weights.assign(at(given.ranks) * at(given.ranks), 0);
    for (Vertex vertex = 0; vertex < graph.vertices(); ++vertex) {
      for (const Arc& arc : graph.arcs_of(vertex)) {
        given.weights[at(vertex) * at(given.ranks) + at(arc.to)] += arc.weight;
      }
    }
    given.pinned.assign(at(given.nodes), 0);
    for (const auto& [slot, ranks] : pinned_) given.pinned[at(tree_.group(1, slot))] |= ranks;
    for (Group group = 0; group < given.nodes; ++group) {
      if (!solve(1, group)) return std::nullopt;
      given.inside.push_back(&solved_[1].at(key(1, group)).cost);
      given.capacity.push_back(tree_.capacity(1, group));
      given.nearest.push_back(nearest_inside(group));
    }
    const auto node_of = assign(given, bound, [this] { return workers_.check_now(); });
    if (!node_of) return std::nullopt;
    std::vector<Ranks> held(at(given.nodes), 0);
    for (std::size_t rank = 0; rank < node_of->size(); ++rank) held[at((*node_of)[rank])] |= Ranks{1} << rank;
    std::vector<Slot> slot_of(node_of->size());
    for (Group group = 0; group < given.nodes; ++group) put(1, group, held[at(group)], slot_of);
    return slot_of;
  }

 private:
  // A child of a group, and the part of each set that it holds when it and the children before it hold the set at the
  // least cost.
  struct Share {
    Group child;  // counted from the first
    std::vector<std::uint8_t> holds;
  };
  // What each set of ranks costs inside a group.
  struct Solution {
    std::vector<double> cost;
    std::vector<Share> shares;
  };

  // The weight between two disjoint sets: by sums only, since differences would lose small amounts.
  void add_between(const Graph& graph) {
    between_.assign(sets_ * sets_, 0);
    std::vector<double> with(sets_, 0);  // of one vertex and a set
    for (Vertex vertex = 0; vertex < graph.vertices(); ++vertex) {
      std::fill(with.begin(), with.end(), 0);
      for (const Arc& arc : graph.arcs_of(vertex)) {
        for (std::size_t set = 0; set < sets_; ++set) {
          if (((set >> at(arc.to)) & 1U) != 0) with[set] += arc.weight;
        }
      }
      const std::size_t one = std::size_t{1} << at(vertex);
      for (std::size_t set = one; set < 2 * one; ++set) {
        for (std::size_t other = 0; other < sets_; ++other) {
          between_[set * sets_ + other] = between_[(set - one) * sets_ + other] + with[other];
        }
      }
    }
  }

  // Groups of one form that hold no pinned rank have one solution.
  [[nodiscard]] std::int64_t key(int level, Group group) const {
    constexpr std::int64_t kHeld = std::int64_t{std::numeric_limits<std::int32_t>::max()} + 1;  // above any form
    return tree_.held(level, group) ? kHeld + group : tree_.form(level, group);
  }

  // What two ranks in a group cost at least: two slots that stand side by side cost as little as any.
  [[nodiscard]] double nearest_inside(Group group) const {
    double least = kImpossible;
    for (Slot slot = tree_.first_slot(1, group) + 1; slot < tree_.first_slot(1, group + 1); ++slot) {
      least = std::min(least, tree_.distance(slot - 1, slot));
    }
    return least == kImpossible ? 0 : least;
  }

  bool solve(int level, Group group) {
    const auto [place, added] = solved_[at(level)].try_emplace(key(level, group));
    if (!added) return true;
    if (!workers_.check_now()) return false;
    Solution& solution = place->second;
    solution.cost.assign(sets_, kImpossible);
    if (level == tree_.levels()) {
      solve_slot(group, solution);
      return true;
    }
    solution.cost[0] = 0;
    // Of children that look the same, the next one is of no use where the one before was of none.
    std::vector<std::int64_t> useless;
    const Group first = tree_.first_child(level, group);
    for (Group child = first; child < first + tree_.child_count(level, group); ++child) {
      const std::int64_t look = key(level + 1, child);
      if (std::find(useless.begin(), useless.end(), look) != useless.end()) continue;
      if (!solve(level + 1, child)) return false;
      Share share{child - first, std::vector<std::uint8_t>(sets_, 0)};
      if (add_child(tree_.cost(level), solved_[at(level) + 1].at(look), solution.cost, share)) {
        solution.shares.push_back(std::move(share));
      } else {
        useless.push_back(look);
      }
    }
    return true;
  }

  void solve_slot(Slot slot, Solution& solution) const {
    if (tree_.held(tree_.levels(), slot)) {
      const auto found = pinned_.find(slot);
      solution.cost[found == pinned_.end() ? 0 : found->second] = 0;
      return;
    }
    solution.cost[0] = 0;
    for (std::size_t one = 1; one < sets_; one *= 2) solution.cost[one] = 0;
  }

  // Whether a set becomes cheaper, possible or impossible when this child holds some of it.
  bool add_child(double distance, const Solution& child, std::vector<double>& cost, Share& share) const {
    bool of_use = false;
    // The largest set first: those it is made of are as they were without this child, then.
    for (std::size_t set = sets_; set-- > 0;) {
      double least = cost[set] + child.cost[0];
      for (std::size_t part = set; part > 0; part = (part - 1) & set) {
        const std::size_t others = set & ~part;
        const double with = cost[others] + child.cost[part] + distance * between_[part * sets_ + others];
        if (with >= least) continue;
        least = with;
        share.holds[set] = static_cast<std::uint8_t>(part);
      }
      of_use = of_use || least != cost[set];
      cost[set] = least;
    }
    return of_use;
  }

  void put(int level, Group group, Ranks ranks, std::vector<Slot>& slot_of) const {
    if (ranks == 0) return;
    if (level == tree_.levels()) {
      slot_of[at(std::countr_zero(ranks))] = group;
      return;
    }
    const Solution& solution = solved_[at(level)].at(key(level, group));
    const Group first = tree_.first_child(level, group);
    for (std::size_t i = solution.shares.size(); i-- > 0;) {
      const Share& share = solution.shares[i];
      put(level + 1, first + share.child, share.holds[ranks], slot_of);
      ranks &= ~Ranks{share.holds[ranks]};
    }
  }

  const SlotTree& tree_;
  Workers& workers_;
  std::size_t sets_;
  std::vector<double> between_;
  std::map<Slot, Ranks> pinned_;
  std::vector<std::map<std::int64_t, Solution>> solved_;  // by level
};

static_assert(kMostRanks <= 8, "a set of ranks is kept in a byte");

}  // namespace

std::optional<std::vector<Slot>> cheapest(const SlotTree& tree, const Graph& graph, Workers& workers,
                                          const std::vector<Slot>& start) {
  return ExactSearch(tree, graph, workers, start).run();
}

std::optional<std::vector<Slot>> cheapest(const SlotTree& tree, const Graph& graph, const Network& network,
                                          double bound, Workers& workers, const std::vector<Slot>& start) {
  if (tree.groups(1) > kMostNodes) return std::nullopt;
  return ExactSearch(tree, graph, workers, start).run(graph, network, bound);
}

}  // namespace ranktree::core::place::exact
