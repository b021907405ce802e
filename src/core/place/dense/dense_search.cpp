#include "core/place/dense/dense_search.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "core/base/index.h"
#include "core/base/random.h"
#include "core/base/workers.h"
#include "core/pattern/pattern.h"
#include "core/place/dense/dense_pairs.h"
#include "core/place/dense/dense_ties.h"
#include "core/place/dense/dense_weights.h"
#include "core/place/graph/graph.h"
#include "core/place/refine/swap_search.h"
#include "core/place/slots/slot_tree.h"

namespace ranktree::core::place::engine {
namespace {

using pattern::Rank;
using Slot = SlotTree::Slot;
using Group = SlotTree::Group;

constexpr int kPatience = 5;  // exchanges without a gain
constexpr int kPassesOfGroups = 8;
constexpr int kHomesOfGroups = 4;
constexpr std::size_t kLocal = 1024;  // ranks whose pairs are copied together
constexpr std::size_t kFewChildren = 256;
constexpr std::size_t kMostSums = std::size_t{1} << 23U;  // of members to children, where these are more

template <class Number>
class Search {
 public:
  Search(const DenseSearch& search, const DenseWeights<Number>& weights, Random& random, std::vector<Slot>& slot_of,
         std::vector<std::uint8_t>& taken)
      : search_(search), weights_(weights), random_(random), slot_of_(slot_of), taken_(taken) {}

  void run(int level, Group group, const std::vector<Rank>& members) {
    if (level + 1 >= tree().levels() || members.size() < 2) return;
    if (members.size() < at(weights_.matrix.ranks) && members.size() <= kLocal) {
      run_apart(level, group, members);
      return;
    }
    const std::vector<Group> children = occupied_below(level, group, members);
    if (pays(level, children.size(), members.size())) {
      if (members.size() == slot_of_.size()) {  // rows are read from end to end
        std::vector<Rank> all(members.size());
        std::iota(all.begin(), all.end(), 0);
        exchange(level, children, all, members);
      } else {
        exchange(level, children, members, {});
      }
    }
    std::vector<std::vector<Rank>> below(at(tree().child_count(level, group)));
    const Group first = tree().first_child(level, group);
    for (const Rank rank : members) below[at(tree().group(level + 1, slot_of_[at(rank)]) - first)].push_back(rank);
    for (std::size_t i = 0; i < below.size(); ++i) run(level + 1, first + static_cast<Group>(i), below[i]);
  }

 private:
  [[nodiscard]] const SlotTree& tree() const { return search_.tree; }

  // The pairs of a few ranks as a small matrix of their own, which caches hold.
  void run_apart(int level, Group group, const std::vector<Rank>& members) {
    const std::size_t count = members.size();
    std::vector<double> pairs(count * count);
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        pairs[i * count + j] = pairs[j * count + i] = weights_.weight(members[i], members[j]) / 2;
      }
    }
    const DenseWeights<double> weights{{static_cast<Rank>(count), pairs.data()}, true, 1};
    std::vector<Slot> slots(count);
    std::vector<std::uint8_t> fixed(search_.fixed.empty() ? 0 : count);
    for (std::size_t i = 0; i < count; ++i) {
      slots[i] = slot_of_[at(members[i])];
      if (!fixed.empty()) fixed[i] = search_.fixed[at(members[i])];
    }
    const DenseSearch inner{search_.tree, search_.context, search_.workers, std::move(fixed), {}};
    std::vector<Rank> self(count);
    std::iota(self.begin(), self.end(), 0);
    Search<double>(inner, weights, random_, slots, taken_).run(level, group, self);
    for (std::size_t i = 0; i < count; ++i) slot_of_[at(members[i])] = slots[i];
  }

  // The children of a group that hold a member, ascending. A member gains nothing by an empty one.
  [[nodiscard]] std::vector<Group> occupied_below(int level, Group group, const std::vector<Rank>& members) const {
    const Group first = tree().first_child(level, group);
    std::vector<std::uint8_t> held(at(tree().child_count(level, group)), 0);
    for (const Rank rank : members) held[at(tree().group(level + 1, slot_of_[at(rank)]) - first)] = 1;
    std::vector<Group> children;
    for (std::size_t i = 0; i < held.size(); ++i) {
      if (held[i] != 0) children.push_back(first + static_cast<Group>(i));
    }
    return children;
  }

  // Whether there is anything to gain between the children of a group, and its sums do not take too much memory.
  [[nodiscard]] bool pays(int level, std::size_t children, std::size_t members) const {
    if (children < 2 || tree().cost(level) <= tree().cost(level + 1)) return false;
    return children <= kFewChildren || children * members <= kMostSums;
  }

  void exchange(int level, const std::vector<Group>& children, const std::vector<Rank>& members,
                std::span<const Rank> order) {
    Division division{members, {}, {}, order};
    for (const Rank rank : members) {
      const Group child = tree().group(level + 1, slot_of_[at(rank)]);
      const auto found = std::lower_bound(children.begin(), children.end(), child);
      division.child_of.push_back(static_cast<std::int32_t>(found - children.begin()));
    }
    for (const Group child : children) division.capacity.push_back(tree().capacity(level + 1, child));
    const Exchanged exchanged = [&](std::int32_t one, std::int32_t other, std::int32_t child) {
      if (other >= 0) {
        std::swap(slot_of_[at(members[at(one)])], slot_of_[at(members[at(other)])]);
      } else {
        move_to_free(members[at(one)], level + 1, children[at(child)]);
      }
    };
    DenseTies<Number> ties(weights_, division, search_.workers);
    DensePairs<Number>(ties, search_.fixed, exchanged)
        .run({search_.context.matrix_sweeps, kPatience}, search_.workers, random_);
  }

  void move_to_free(Rank rank, int level, Group group) {
    Slot slot = tree().first_slot(level, group);
    while (taken_[at(slot)] != 0) ++slot;
    taken_[at(slot_of_[at(rank)])] = 0;
    taken_[at(slot)] = 1;
    slot_of_[at(rank)] = slot;
  }

  const DenseSearch& search_;
  const DenseWeights<Number>& weights_;
  Random& random_;
  std::vector<Slot>& slot_of_;
  std::vector<std::uint8_t>& taken_;
};

// Of the lowest level above the ranks that has few enough groups for a matrix of their own.
int lowest_groups(const SlotTree& tree) {
  constexpr SlotTree::Group kMost = 2048;
  int level = tree.levels() - 1;
  while (level >= 2 && tree.groups(level) > kMost) --level;
  return level;
}

// What the groups of a level send to each, row by row. O(ranks^2).
template <class Number>
std::vector<std::vector<double>> sent_between(const DenseWeights<Number>& weights,
                                              const std::vector<std::vector<Rank>>& inside,
                                              const std::vector<Vertex>& group_of, Workers& workers) {
  std::vector<Rank> all(group_of.size());
  std::iota(all.begin(), all.end(), 0);
  std::vector<std::vector<double>> sent(inside.size());
  workers.for_ranges(inside.size(), steps_of_entries(all.size() * all.size()),
                     [&](std::size_t first, std::size_t last) {
                       std::vector<double> sums(all.size());
                       for (std::size_t group = first; group < last; ++group) {
                         std::fill(sums.begin(), sums.end(), 0);
                         for (const Rank rank : inside[group]) weights.add_sent(rank, all, 1, sums.data());
                         sent[group].assign(inside.size(), 0);
                         for (std::size_t i = 0; i < sums.size(); ++i) sent[group][at(group_of[i])] += sums[i];
                       }
                     });
  return sent;
}

// What the groups of a level exchange.
template <class Number>
Graph graph_between(const DenseWeights<Number>& weights, const Contents& contents, std::span<const Rank> order,
                    Workers& workers) {
  std::vector<std::vector<Rank>> inside(at(contents.vertices));
  std::vector<Vertex> group_of(order.size());  // by rank
  for (std::size_t i = 0; i < order.size(); ++i) {
    inside[at(contents.vertex_of[i])].push_back(order[i]);
    group_of[at(order[i])] = contents.vertex_of[i];
  }
  const std::vector<std::vector<double>> sent = sent_between(weights, inside, group_of, workers);
  Graph graph;
  for (Vertex vertex = 0; vertex < contents.vertices; ++vertex) {
    for (Vertex other = 0; other < contents.vertices; ++other) {
      const double exchanged = sent[at(vertex)][at(other)] + sent[at(other)][at(vertex)];
      if (other != vertex && exchanged > 0) graph.arcs.push_back({other, exchanged});
    }
    graph.offset.push_back(static_cast<std::int64_t>(graph.arcs.size()));
    graph.size.push_back(static_cast<std::int32_t>(inside[at(vertex)].size()));
  }
  return graph;
}

}  // namespace

std::vector<Slot> by_rank(std::span<const Rank> order, const std::vector<Slot>& slot_of) {
  std::vector<Slot> slots(slot_of.size());
  for (std::size_t i = 0; i < slots.size(); ++i) slots[at(order[i])] = slot_of[i];
  return slots;
}

template <class Number>
void improve(const DenseSearch& search, const DenseWeights<Number>& weights, std::uint64_t seed,
             std::vector<Slot>& slot_of) {
  Random random(seed);
  if (const int lowest = lowest_groups(search.tree); lowest >= 2) {
    Contents contents = contents_of(search.tree, lowest, slot_of);
    contents.graph = graph_between(weights, contents, search.order, search.workers);
    Context thorough = search.context;  // groups are few
    thorough.search_passes = std::min(thorough.matrix_sweeps, std::max(thorough.search_passes, kPassesOfGroups));
    thorough.search_groups = std::max(thorough.search_groups, kHomesOfGroups);
    search_groups({search.tree, thorough, random, search.workers}, lowest, std::move(contents), slot_of);
  }
  std::vector<std::uint8_t> taken(at(search.tree.slots()), 0);
  for (const Slot slot : slot_of) taken[at(slot)] = 1;
  std::vector<Slot> slots = by_rank(search.order, slot_of);
  Search<Number>(search, weights, random, slots, taken).run(0, 0, search.order);
  for (std::size_t i = 0; i < slots.size(); ++i) slot_of[i] = slots[at(search.order[i])];
}

template <class Number>
double cost_of(const SlotTree& tree, const DenseWeights<Number>& weights, double total,
               const std::vector<Slot>& slot_of) {
  if (tree.levels() == 0) return 0;
  std::vector<std::vector<Rank>> homes(at(tree.groups(1)));
  for (std::size_t i = 0; i < slot_of.size(); ++i) {
    homes[at(tree.group(1, slot_of[i]))].push_back(static_cast<Rank>(i));
  }
  double inside = 0;
  double cost = 0;
  for (auto& home : homes) {
    std::sort(home.begin(), home.end(), [&](Rank a, Rank b) { return slot_of[at(a)] < slot_of[at(b)]; });
    std::vector<std::size_t> begin(at(tree.levels()) + 1, 0);  // by level: who shares the group begins here
    for (std::size_t i = 1; i < home.size(); ++i) {
      const Slot slot = slot_of[at(home[i])];
      const Slot before = slot_of[at(home[i - 1])];
      for (int level = 1; level <= tree.levels(); ++level) {
        if (tree.group(level, slot) != tree.group(level, before)) begin[at(level)] = i;
      }
      for (int level = 1; level < tree.levels(); ++level) {
        double sum = 0;
        for (std::size_t j = begin[at(level)]; j < begin[at(level) + 1]; ++j) sum += weights.weight(home[i], home[j]);
        inside += sum;
        cost += sum * tree.cost(level);
      }
    }
  }
  return cost + std::max(0.0, total - inside) * tree.cost(0);
}

template void improve(const DenseSearch&, const DenseWeights<double>&, std::uint64_t, std::vector<Slot>&);
template void improve(const DenseSearch&, const DenseWeights<float>&, std::uint64_t, std::vector<Slot>&);
template double cost_of(const SlotTree&, const DenseWeights<double>&, double, const std::vector<Slot>&);
template double cost_of(const SlotTree&, const DenseWeights<float>&, double, const std::vector<Slot>&);

}  // namespace ranktree::core::place::engine
