// The steps of TreeMatch against literal, slow versions of what the paper says.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <vector>

#include "core/place/grouping.h"
#include "core/place/treematch.h"
#include "fixtures.h"

namespace {

using namespace ranktree::core::place;
using ranktree::test::from_matrix;
using ranktree::test::random_affinity;
using ranktree::test::to_matrix;

bool share_an_item(const GroupList& groups, std::size_t a, std::size_t b) {
  const auto left = groups.group(a);
  const auto right = groups.group(b);
  return std::any_of(left.begin(), left.end(),
                     [&](Item item) { return std::find(right.begin(), right.end(), item) != right.end(); });
}

// The graph of incompatibilities built edge by edge: the value of each vertex's neighbours over its own.
std::vector<double> literal_degrees(const GroupList& groups) {
  std::vector<double> degrees;
  for (std::size_t a = 0; a < groups.values.size(); ++a) {
    double sum = 0;
    for (std::size_t b = 0; b < groups.values.size(); ++b) {
      if (a == b || !share_an_item(groups, a, b)) continue;
      sum += groups.values[b];
    }
    degrees.push_back(groups.values[a] > 0 ? sum / groups.values[a] : std::numeric_limits<double>::infinity());
  }
  return degrees;
}

void expect_partition(const Grouping& groups, Item items, int size) {
  std::set<Item> seen;
  for (const Group& group : groups) {
    EXPECT_EQ(group.size(), static_cast<std::size_t>(size));
    EXPECT_TRUE(std::is_sorted(group.begin(), group.end()));
    seen.insert(group.begin(), group.end());
  }
  EXPECT_EQ(seen.size(), static_cast<std::size_t>(items));
  EXPECT_TRUE(std::is_sorted(groups.begin(), groups.end()));
}

TEST(GroupList, HoldsEveryGroupOnce) {
  const GroupList list = list_all_possible_groups(random_affinity(7, 50, 9, 1), 3);
  std::set<Group> distinct;
  for (std::size_t i = 0; i < list.values.size(); ++i) distinct.emplace(list.group(i).begin(), list.group(i).end());
  EXPECT_EQ(list.values.size(), 35U);  // 7 choose 3
  EXPECT_EQ(distinct.size(), 35U);
}

TEST(GroupList, AValueIsTheCommunicationThatLeavesTheGroup) {
  const auto affinity = random_affinity(8, 70, 50, 3);
  const auto matrix = to_matrix(affinity);
  const GroupList list = list_all_possible_groups(affinity, 3);
  for (std::size_t index = 0; index < list.values.size(); ++index) {
    const std::set<Item> inside(list.group(index).begin(), list.group(index).end());
    double leaving = 0;
    for (const Item item : inside) {
      for (Item other = 0; other < 8; ++other) {
        if (!inside.contains(other)) leaving += matrix[static_cast<std::size_t>(item)][static_cast<std::size_t>(other)];
      }
    }
    EXPECT_EQ(list.values[index], leaving);
  }
}

TEST(WeightedDegrees, EqualTheLiteralGraphs) {
  for (const auto& [items, size] : {std::pair(4, 2), {6, 2}, {6, 3}, {9, 3}, {8, 4}, {10, 5}, {7, 1}}) {
    const auto affinity = random_affinity(items, 60, 1000, static_cast<std::uint64_t>(items * size));
    const GroupList list = list_all_possible_groups(affinity, size);
    const auto expected = literal_degrees(list);
    const auto computed = weighted_degrees(affinity, list);
    ASSERT_EQ(computed.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      if (std::isinf(expected[i])) {
        EXPECT_TRUE(std::isinf(computed[i]));
      } else {
        EXPECT_EQ(computed[i], expected[i]) << items << " items by " << size;  // whole numbers: no rounding
      }
    }
  }
}

TEST(Heuristics, EachCoversEveryItemOnce) {
  for (const auto& [items, size] : {std::pair(6, 2), {9, 3}, {12, 4}, {15, 3}}) {
    const auto affinity = random_affinity(items, 80, 100, 11);
    const GroupList list = list_all_possible_groups(affinity, size);
    const auto degrees = weighted_degrees(affinity, list);
    for (const auto& selected : {smallest_values_first(list, items), largest_values_last(list, items),
                                 largest_weighted_degrees_first(list, degrees, items)}) {
      Grouping groups;
      for (const std::size_t index : selected) groups.emplace_back(list.group(index).begin(), list.group(index).end());
      std::sort(groups.begin(), groups.end());
      expect_partition(groups, items, size);
    }
  }
}

TEST(Heuristics, LargestValuesLastNeverEndsLaterThanTheFirst) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const GroupList list = list_all_possible_groups(random_affinity(8, 90, 30, seed), 2);
    const auto largest = [&](const std::vector<std::size_t>& selected) {
      double value = 0;
      for (const std::size_t index : selected) value = std::max(value, list.values[index]);
      return value;
    };
    EXPECT_LE(largest(largest_values_last(list, 8)), largest(smallest_values_first(list, 8)));
  }
}

TEST(GroupProcesses, AnIndependentSetIsNeverWorseThanSmallestValuesFirst) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto affinity = random_affinity(9, 90, 30, seed);
    const GroupList list = list_all_possible_groups(affinity, 3);
    double first = 0;
    for (const std::size_t index : smallest_values_first(list, 9)) first += list.values[index];
    const Grouping groups = group_processes(affinity, 3, 1000);
    expect_partition(groups, 9, 3);
    const Affinity between = aggregate_matrix(affinity, groups);
    EXPECT_LE(std::accumulate(between.weights.begin(), between.weights.end(), 0.0), first);
  }
}

TEST(FastGroupProcesses, PartitionsWhateverTheArity) {
  for (const auto& [items, size] : {std::pair(10, 2), {12, 3}, {35, 7}, {12, 12}, {64, 4}, {5, 1}}) {
    for (const int density : {0, 20, 100}) {
      const auto affinity = random_affinity(items, density, 1000, 5);
      expect_partition(fast_group_processes(affinity, size, 8, 1), items, size);
    }
  }
}

TEST(FastGroupProcesses, JoinsTheHeaviestPairs) {
  // 0-5 and 2-3 are the heaviest disjoint pairs; 1-4 is what remains.
  std::vector<std::vector<double>> matrix(6, std::vector<double>(6, 1));
  for (std::size_t i = 0; i < 6; ++i) matrix[i][i] = 0;
  matrix[0][5] = matrix[5][0] = 900;
  matrix[5][2] = matrix[2][5] = 800;
  matrix[2][3] = matrix[3][2] = 700;
  EXPECT_EQ(fast_group_processes(from_matrix(matrix), 2, 8, 1), (Grouping{{0, 5}, {1, 4}, {2, 3}}));
}

TEST(GroupCount, IsExactWhileADoubleHoldsIt) {
  EXPECT_EQ(group_count(245, 2), 29890);  // the last pairs below T_h
  EXPECT_EQ(group_count(246, 2), 30135);
  EXPECT_EQ(group_count(49, 24), 63205303218876.0);
  EXPECT_EQ(group_count(3, 4), 0);
  EXPECT_TRUE(std::isinf(group_count(100000, 50000)));
}

TEST(FastGroupProcesses, TheNumberOfBucketsDoesNotChangeTheOrderOfElements) {
  const auto affinity = random_affinity(40, 50, 1000000, 9);
  const Grouping one = fast_group_processes(affinity, 2, 1, 1);
  EXPECT_EQ(fast_group_processes(affinity, 2, 8, 1), one);
  EXPECT_EQ(fast_group_processes(affinity, 2, 12, 77), one);
  EXPECT_EQ(fast_group_processes(affinity, 2, 0, 1), one);
  EXPECT_EQ(fast_group_processes(random_affinity(6, 50, 9, 9), 2, 99, 1),
            fast_group_processes(random_affinity(6, 50, 9, 9), 2, 8, 1));
}

TEST(AggregateMatrix, KeepsWhatCrossesGroups) {
  const auto affinity = random_affinity(12, 70, 100, 2);
  const auto matrix = to_matrix(affinity);
  const Grouping groups{{0, 5, 7}, {1, 2, 11}, {3, 4, 6}, {8, 9, 10}};
  const auto aggregated = to_matrix(aggregate_matrix(affinity, groups));
  for (std::size_t a = 0; a < 4; ++a) {
    for (std::size_t b = 0; b < 4; ++b) {
      double sum = 0;
      for (const Item i : groups[a]) {
        for (const Item j : groups[b]) sum += matrix[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
      }
      EXPECT_EQ(aggregated[a][b], a == b ? 0 : sum);
    }
  }
}

TEST(ExtendMatrix, AddsSilentItemsUpToTheNextMultiple) {
  const auto affinity = random_affinity(7, 100, 9, 4);
  EXPECT_EQ(extend_matrix(affinity, 4).ranks, 8);
  EXPECT_EQ(extend_matrix(affinity, 7).ranks, 7);
  EXPECT_TRUE(extend_matrix(affinity, 4).neighbours(7).empty());
}

TEST(GrowParts, FillsEachCapacityAndKeepsTalkersTogether) {
  // Two cliques of 3 and 2: the larger part takes the clique of 3.
  std::vector<std::vector<double>> matrix(5, std::vector<double>(5, 0));
  for (const auto& [i, j] : {std::pair(0, 2), {2, 4}, {0, 4}, {1, 3}}) {
    matrix[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)] = 10;
    matrix[static_cast<std::size_t>(j)][static_cast<std::size_t>(i)] = 10;
  }
  const auto parts = grow_parts(from_matrix(matrix), {0, 1, 2, 3, 4}, std::vector<std::int64_t>{2, 3});
  EXPECT_EQ(parts, (std::vector<Group>{{1, 3}, {0, 2, 4}}));
}

}  // namespace
