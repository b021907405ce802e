// The steps of TreeMatch (treematch-2013 §4), one function each, so that each can be tested against the paper.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/pattern/affinity.h"

namespace ranktree::core::place {

using pattern::Affinity;
using Item = std::int32_t;            // a process, or a group of processes already made ("virtual process")
using Group = std::vector<Item>;      // ascending
using Grouping = std::vector<Group>;  // disjoint groups, ordered by their smallest member

// p choose k as a double; infinite when it is too large for one.
double group_count(Item items, int group_size);

// §4.1 ListOfAllPossibleGroups: every group of k items, in lexicographic order, with its value: the communication of
// its members that would remain outside it. O((p choose k) k) beyond a dense copy of the matrix.
struct GroupList {
  int group_size = 0;
  std::vector<Item> members;   // group_size items a group
  std::vector<double> values;  // one a group; smaller is better
  [[nodiscard]] std::span<const Item> group(std::size_t index) const {
    return std::span(members).subspan(index * static_cast<std::size_t>(group_size),
                                      static_cast<std::size_t>(group_size));
  }
};
GroupList list_all_possible_groups(const Affinity& matrix, int group_size);

// The weighted degree of each group in the graph of incompatibilities (§4.1): the values of the groups that share an
// item with it, over its own value, as the paper's source for this heuristic ([KOH05]) defines it; infinite where the
// own value is 0. The graph is not built: the values of the groups disjoint from a group sum up in closed form, O(1) a
// group.
std::vector<double> weighted_degrees(const Affinity& matrix, const GroupList& groups);

// The three heuristics of §4.1 for an independent set of p / k groups. Each returns indices into `groups`.
std::vector<std::size_t> smallest_values_first(const GroupList& groups, Item items);
std::vector<std::size_t> largest_values_last(const GroupList& groups, Item items);
std::vector<std::size_t> largest_weighted_degrees_first(const GroupList& groups, std::span<const double> degrees,
                                                        Item items);

// §4.1 IndependentSet over all groups of k items: the first heuristic, replaced by a later one only where that is
// better. The third is skipped above `degree_threshold` groups. k must divide the number of items.
Grouping group_processes(const Affinity& matrix, int group_size, std::int64_t degree_threshold);

// §4.2.2 FastGroupProcesses: elements of the matrix in order of magnitude, by buckets (1 to 30 of them, more count as
// 30), grouped greedily.
Grouping fast_group_processes(const Affinity& matrix, int group_size, int buckets, std::uint64_t seed);

// §4.1 AggregateComMatrix: the communication between groups.
Affinity aggregate_matrix(const Affinity& matrix, const Grouping& groups);

// §4.1 ExtendComMatrix: items that communicate with no other are added until `multiple` divides their number.
Affinity extend_matrix(const Affinity& matrix, int multiple);

// §4.2.1, Table 2: a level of arity k is worth dividing into d* levels' worth of arity k / d* from p* items on.
struct Division {
  std::int64_t threshold = 0;  // p*
  int divisor = 1;             // d*, the greatest non-trivial divisor; 1 for primes: never divided
};
Division best_division(int arity);

// The arities, root first, with every level divided repeatedly as Table 2 requires (§4.2.1).
std::vector<int> divide_arities(std::span<const int> arities);

}  // namespace ranktree::core::place
