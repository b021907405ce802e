#include "core/place/engine/exact_search.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "core/base/workers.h"
#include "core/place/engine/graph.h"
#include "core/place/engine/seat_tree.h"
#include "core/place/engine/swap_search.h"

namespace ranktree::core::place::engine {
namespace {

using Seat = SeatTree::Seat;
using Group = SeatTree::Group;
using Ranks = std::uint32_t;  // a set: bit i is vertex i

constexpr double kImpossible = std::numeric_limits<double>::infinity();

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

class ExactSearch {
 public:
  ExactSearch(const SeatTree& tree, const Graph& graph, Workers& workers, const std::vector<Seat>& seat_of)
      : tree_(tree), workers_(workers), sets_(std::size_t{1} << at(graph.vertices())) {
    add_between(graph);
    solved_.resize(at(tree.levels()) + 1);
    for (Vertex vertex = 0; vertex < graph.vertices(); ++vertex) {
      if (tree.held(tree.levels(), seat_of[at(vertex)])) pinned_[seat_of[at(vertex)]] = Ranks{1} << at(vertex);
    }
  }

  // False when the time is up; `seat_of` is as it was, then.
  bool run(std::vector<Seat>& seat_of) {
    if (!solve(0, 0)) return false;
    put(0, 0, static_cast<Ranks>(sets_ - 1), seat_of);
    return true;
  }

 private:
  // A child of a group, and whom it holds at the cheapest when it and the children before it hold a set together.
  struct Share {
    Group child;  // counted from the first
    std::vector<std::uint8_t> holds;
  };
  // What each set of ranks costs inside a group.
  struct Solution {
    std::vector<double> cost;
    std::vector<Share> shares;
  };

  // What two sets that have nobody in common exchange: sums only, since differences would lose small amounts.
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

  bool solve(int level, Group group) {
    const auto [place, added] = solved_[at(level)].try_emplace(key(level, group));
    if (!added) return true;
    if (!workers_.ask()) return false;
    Solution& solution = place->second;
    solution.cost.assign(sets_, kImpossible);
    if (level == tree_.levels()) {
      solve_seat(group, solution);
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

  void solve_seat(Seat seat, Solution& solution) const {
    if (tree_.held(tree_.levels(), seat)) {
      const auto found = pinned_.find(seat);
      solution.cost[found == pinned_.end() ? 0 : found->second] = 0;
      return;
    }
    solution.cost[0] = 0;
    for (std::size_t one = 1; one < sets_; one *= 2) solution.cost[one] = 0;
  }

  // Whether a set becomes cheaper, possible or impossible when this child holds some of it.
  bool add_child(double apart, const Solution& child, std::vector<double>& cost, Share& share) const {
    bool of_use = false;
    // The largest set first: those it is made of are as they were without this child, then.
    for (std::size_t set = sets_; set-- > 0;) {
      double least = cost[set] + child.cost[0];
      for (std::size_t part = set; part > 0; part = (part - 1) & set) {
        const std::size_t others = set & ~part;
        const double with = cost[others] + child.cost[part] + apart * between_[part * sets_ + others];
        if (with >= least) continue;
        least = with;
        share.holds[set] = static_cast<std::uint8_t>(part);
      }
      of_use = of_use || least != cost[set];
      cost[set] = least;
    }
    return of_use;
  }

  void put(int level, Group group, Ranks ranks, std::vector<Seat>& seat_of) const {
    if (ranks == 0) return;
    if (level == tree_.levels()) {
      seat_of[at(std::countr_zero(ranks))] = group;
      return;
    }
    const Solution& solution = solved_[at(level)].at(key(level, group));
    const Group first = tree_.first_child(level, group);
    for (std::size_t i = solution.shares.size(); i-- > 0;) {
      const Share& share = solution.shares[i];
      put(level + 1, first + share.child, share.holds[ranks], seat_of);
      ranks &= ~Ranks{share.holds[ranks]};
    }
  }

  const SeatTree& tree_;
  Workers& workers_;
  std::size_t sets_;
  std::vector<double> between_;
  std::map<Seat, Ranks> pinned_;
  std::vector<std::map<std::int64_t, Solution>> solved_;  // by level
};

static_assert(kExactRanks <= 8, "a set of ranks is kept in a byte");

}  // namespace

void search_exactly(const SeatTree& tree, const Graph& graph, Workers& workers, std::vector<Seat>& seat_of) {
  std::vector<Seat> found = seat_of;
  if (!ExactSearch(tree, graph, workers, seat_of).run(found)) return;
  if (cost_of(tree, graph, found, workers) < cost_of(tree, graph, seat_of, workers)) seat_of = std::move(found);
}

}  // namespace ranktree::core::place::engine
