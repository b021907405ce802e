#include "core/place/engine/dense_subtrees.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "core/pattern/pattern.h"
#include "core/place/engine/dense_annealing.h"
#include "core/place/engine/dense_exchange.h"
#include "core/place/engine/dense_pairs.h"
#include "core/place/engine/dense_search.h"
#include "core/place/engine/dense_ties.h"
#include "core/place/engine/dense_weights.h"
#include "core/place/engine/seat_tree.h"

namespace ranktree::core::place::engine {
namespace {

using pattern::Rank;
using Group = SeatTree::Group;

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

}  // namespace

template <class Number>
int DenseSubtrees<Number>::groups_below(int level, Group group, int depth) const {
  const auto first = tree().first_seat(level, group);
  const auto last = tree().first_seat(level, group + 1) - 1;
  return tree().group(depth, last) - tree().group(depth, first) + 1;
}

// The highest level on which the children have so many subtrees that there is a choice; the lowest if none has.
template <class Number>
int DenseSubtrees<Number>::annealed_depth(int level, Group group) const {
  constexpr int kChoice = 8;
  int depth = level + 2;
  while (depth + 1 < tree().levels() &&
         groups_below(level, group, depth) < kChoice * tree().child_count(level, group)) {
    ++depth;
  }
  return depth;
}

template <class Number>
auto DenseSubtrees<Number>::subtrees_of(int level, Group group, int depth, const std::vector<Rank>& members) const
    -> Subtrees {
  Subtrees subtrees{depth, tree().group(depth, tree().first_seat(level, group)), {}, {}};
  subtrees.inside.resize(at(groups_below(level, group, depth)));
  subtrees.subtree_of.reserve(members.size());
  for (const Rank member : members) {
    subtrees.subtree_of.push_back(tree().group(depth, seat_of_[at(member)]) - subtrees.first);
    subtrees.inside[at(subtrees.subtree_of.back())].push_back(member);
  }
  return subtrees;
}

template <class Number>
std::vector<std::uint8_t> DenseSubtrees<Number>::fixed(const Subtrees& subtrees) const {
  std::vector<std::uint8_t> fixed;
  for (const auto& inside : subtrees.inside) {
    const Group group = subtrees.first + static_cast<Group>(fixed.size());
    const bool full = std::cmp_equal(inside.size(), tree().capacity(subtrees.depth, group));
    const bool alike = tree().form(subtrees.depth, group) == tree().form(subtrees.depth, subtrees.first);
    const bool held = !search_.fixed.empty() && std::any_of(inside.begin(), inside.end(), [&](Rank member) {
      return search_.fixed[at(member)] != 0;
    });
    fixed.push_back(full && alike && !held ? 0 : 1);
  }
  return fixed;
}

// Half of what subtrees exchange, as a matrix whose rows alone are read.
template <class Number>
std::vector<double> DenseSubtrees<Number>::weights_between(const Subtrees& subtrees,
                                                           const std::vector<Rank>& members) const {
  const std::size_t count = subtrees.inside.size();
  std::vector<double> between(count * count, 0);
  std::vector<double> sums(members.size());
  for (std::size_t i = 0; i < count; ++i) {
    std::fill(sums.begin(), sums.end(), 0.0);
    for (const Rank member : subtrees.inside[i]) weights_.add_row(member, members, 0.5, sums.data());
    double* row = &between[i * count];
    for (std::size_t j = 0; j < sums.size(); ++j) row[subtrees.subtree_of[j]] += sums[j];
  }
  return between;
}

template <class Number>
void DenseSubtrees<Number>::exchange_on(int level, Group group, const Subtrees& subtrees,
                                        const std::vector<Rank>& members) {
  const auto count = static_cast<Rank>(subtrees.inside.size());
  std::vector<Rank> self(at(count));
  std::iota(self.begin(), self.end(), 0);
  Division division{self, {}, std::vector<std::int32_t>(at(tree().child_count(level, group)), 0)};
  for (Rank i = 0; i < count; ++i) {
    const auto seat = tree().first_seat(subtrees.depth, subtrees.first + i);
    division.child_of.push_back(tree().group(level + 1, seat) - tree().first_child(level, group));
    ++division.room[at(division.child_of.back())];
  }
  const std::vector<double> between = weights_between(subtrees, members);
  const DenseWeights<double> weights{{count, between.data()}, true, 1};
  DenseTies<double> ties(weights, division);
  std::vector<Group> place = self;
  const Exchanged exchanged = [&](std::int32_t one, std::int32_t other, std::int32_t) {
    std::swap(place[at(one)], place[at(other)]);
  };
  const std::vector<std::uint8_t> stay = fixed(subtrees);
  if (level == 0 && search_.limits.annealing.rounds > 0 && subtrees.depth == annealed_depth(level, group)) {
    DenseAnnealing<double>(ties, stay, exchanged).run(search_.limits.annealing, search_.keep_going, random_);
  }
  DensePairs<double>(ties, stay, exchanged).run(search_.limits.pairs, search_.keep_going, random_);
  for (std::size_t i = 0; i < members.size(); ++i) {
    const Group from = subtrees.subtree_of[i];
    seat_of_[at(members[i])] += tree().first_seat(subtrees.depth, subtrees.first + place[at(from)]) -
                                tree().first_seat(subtrees.depth, subtrees.first + from);
  }
}

template <class Number>
void DenseSubtrees<Number>::exchange(int level, Group group, const std::vector<Rank>& members) {
  constexpr std::size_t kMost = 2048;  // subtrees, whose matrix fits into a cache
  for (int depth = level + 2; depth < tree().levels(); ++depth) {
    const auto count = at(groups_below(level, group, depth));
    if (count > kMost || 2 * count > members.size()) return;
    exchange_on(level, group, subtrees_of(level, group, depth, members), members);
  }
}

template class DenseSubtrees<double>;
template class DenseSubtrees<float>;

}  // namespace ranktree::core::place::engine
