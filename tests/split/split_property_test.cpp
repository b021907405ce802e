// Random machines, bindings and communicators: summaries decide as the definition does, in any order of
// merging, and every part is a strict subset.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "core/base/random.h"
#include "core/split/chain.h"
#include "core/split/summary.h"
#include "core/topo/kind.h"
#include "core/topo/tree.h"
#include "fixtures.h"
#include "helpers/sanitized.h"
#include "reference.h"

namespace {

using namespace ranktree::core::split;
using ranktree::core::Random;
using ranktree::core::topo::Kind;
using ranktree::core::topo::Level;
using ranktree::core::topo::Tree;
using ranktree::core::topo::TreeBuilder;

const std::vector<Kind> kKinds{Kind::kNode, Kind::kGroup, Kind::kPackage, Kind::kNumaNode, Kind::kL3,
                               Kind::kL2,   Kind::kL1,    Kind::kCore,    Kind::kPu};

// Unequal arities, levels that some branches lack, PUs numbered at random.
class MachineMaker {
 public:
  explicit MachineMaker(Random& random) : random_(random), builder_(levels()) {}

  Tree make() {
    for (int i = 0; i < 4096; ++i) numbers_.push_back(i);
    for (std::size_t i = numbers_.size(); i > 1; --i) std::swap(numbers_[i - 1], numbers_[random_.below(i)]);
    grow(builder_.add(-1, 0), 0);
    return std::move(builder_).build();
  }

 private:
  static std::vector<Level> levels() {
    std::vector<Level> levels;
    for (const Kind kind : kKinds) levels.push_back({kind, {}, {}});
    return levels;
  }

  void grow(std::int32_t parent, std::size_t level) {
    const std::size_t last = kKinds.size() - 1;
    const std::size_t arity = 1 + random_.below(3);
    for (std::size_t i = 0; i < arity; ++i) {
      const std::size_t next = std::min(last, level + 1 + random_.below(3));
      const int number = next == last ? numbers_[next_pu_++] : 0;
      const auto child = builder_.add(parent, static_cast<int>(next), number);
      if (next != last) grow(child, next);
    }
  }

  Random& random_;
  TreeBuilder builder_;
  std::vector<int> numbers_;
  std::size_t next_pu_ = 0;
};

std::vector<int> random_binding(const Tree& tree, Random& random) {
  std::vector<int> pus;
  const auto leaf_count = static_cast<std::uint64_t>(tree.leaf_count());
  const auto pu_of = [&](std::uint64_t leaf) { return tree.pus(static_cast<int>(leaf))[0]; };
  switch (random.below(6)) {
    case 0:  // unbound
      for (std::uint64_t leaf = 0; leaf < leaf_count; ++leaf) pus.push_back(pu_of(leaf));
      break;
    case 1: {  // one object
      const auto object = static_cast<int>(random.below(static_cast<std::uint64_t>(tree.object_count())));
      for (int leaf = tree.first_leaf(object); leaf < tree.first_leaf(object) + tree.leaves_below(object); ++leaf) {
        pus.push_back(pu_of(static_cast<std::uint64_t>(leaf)));
      }
      break;
    }
    case 2:  // several, anywhere
      for (std::uint64_t i = 0; i < 1 + random.below(3); ++i) pus.push_back(pu_of(random.below(leaf_count)));
      break;
    default:  // one
      pus.push_back(pu_of(random.below(leaf_count)));
  }
  return pus;
}

struct Case {
  std::vector<Tree> trees;
  std::vector<Spot> spots;
  std::vector<int> keys;
};

Case random_case(Random& random) {
  Case made;
  const std::size_t node_count = 1 + random.below(4);
  for (std::size_t i = 0; i < node_count; ++i) made.trees.push_back(MachineMaker(random).make());
  const std::size_t depth = random.below(3);
  const std::size_t size = 1 + random.below(24);
  std::vector<std::vector<std::string>> switches(node_count);
  for (auto& path : switches) {
    std::string name = "s";
    for (std::size_t i = 0; i < depth; ++i) path.push_back(name += std::to_string(random.below(2)));
  }
  for (std::size_t i = 0; i < size; ++i) {
    const std::size_t node = random.below(node_count);
    const Tree& tree = made.trees[node];
    made.spots.push_back({switches[node], static_cast<std::int64_t>(node), &tree, random_binding(tree, random)});
    made.keys.push_back(static_cast<int>(random.below(3)));
  }
  return made;
}

// Children are disjoint, strict subsets, and cover their parent when leftovers are grouped and any rank has a part.
void expect_partition(const std::vector<Outcome>& outcomes, bool covering) {
  std::set<std::vector<int>> parts;
  std::size_t served = 0;
  for (const Outcome& outcome : outcomes) {
    EXPECT_TRUE(outcome.members.empty() || outcome.members.size() < outcomes.size());
    if (outcome.members.empty()) continue;
    ++served;
    parts.insert(outcome.members);
  }
  std::size_t total = 0;
  for (const auto& part : parts) total += part.size();
  EXPECT_EQ(total, served);
  EXPECT_TRUE(!covering || served == 0 || served == outcomes.size());
}

// Down to the bottom of one case.
void check_all_levels(const std::vector<Spot>& spots, const std::vector<int>& keys, Leftover leftover, Random& random) {
  const auto outcomes = fast_split(spots, keys, leftover, random);
  ASSERT_EQ(outcomes, reference_split(spots, keys, leftover));
  expect_partition(outcomes, leftover != Leftover::kNull);
  std::set<std::vector<int>> parts;
  for (const Outcome& outcome : outcomes) parts.insert(outcome.members);
  for (const auto& part : parts) {
    if (part.empty()) continue;
    std::vector<Spot> below;
    for (const int i : part) below.push_back(spots[static_cast<std::size_t>(i)]);
    check_all_levels(below, {}, leftover, random);
  }
}

TEST(Split, FollowsTheDefinition) {
  Random random(20181);
  for (int round = 0; round < (ranktree::test::kSanitized ? 100 : 400); ++round) {
    const Case one = random_case(random);
    for (const Leftover leftover : {Leftover::kNull, Leftover::kSelf, Leftover::kGroup}) {
      check_all_levels(one.spots, one.keys, leftover, random);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(Summaries, MoreSiblingsThanFitAreStillTheSameParts) {
  Random random(7);
  for (const std::size_t node_count : {64, 65, 200}) {
    const Tree tree = MachineMaker(random).make();
    std::vector<Spot> spots;
    for (std::size_t i = 0; i < 2 * node_count; ++i) {
      spots.push_back({{"root"}, static_cast<std::int64_t>(i % node_count), &tree, {tree.pus(0)[0]}});
    }
    auto expected = reference_split(spots, {}, Leftover::kNull);
    auto found = fast_split(spots, {}, Leftover::kNull, random);
    for (std::size_t i = 0; i < spots.size(); ++i) {
      EXPECT_EQ(found[i].members, expected[i].members);
      EXPECT_EQ(found[i].count, node_count <= kMaxSiblings ? expected[i].count : 0);
    }
  }
}

TEST(Summaries, CutBelowAnOverflowFindTheFirstRootAgain) {
  // 70 nodes below one switch, then a rank on another switch: two parts, the first with root 0.
  Random random(3);
  const Tree tree = MachineMaker(random).make();
  std::vector<Spot> spots;
  for (int i = 0; i < 70; ++i) spots.push_back({{"a"}, i, &tree, {tree.pus(0)[0]}});
  spots.push_back({{"b"}, 70, &tree, {tree.pus(0)[0]}});
  EXPECT_EQ(fast_split(spots, {}, Leftover::kNull, random), reference_split(spots, {}, Leftover::kNull));
}

TEST(Summaries, FaultsAndArgumentsSurviveEveryOrder) {
  Random random(5);
  std::vector<Summary> all;
  for (int rank = 0; rank < 9; ++rank) all.push_back(summarize({}, {rank, 0, 0}, Leftover::kNull));
  all[3].fault = {12, 3};
  all[7].fault = {12, 7};
  all[5].fault = {4, 5};
  for (std::size_t i = 0; i < all.size(); ++i) all[i].arguments = i == 6 ? 2 : 1;
  for (int round = 0; round < 20; ++round) {
    const Summary merged = merge_all(all, random);
    EXPECT_EQ(merged.fault.code, 12);
    EXPECT_EQ(merged.fault.rank, 3);
    EXPECT_EQ(merged.arguments_differ, 1);
  }
}

TEST(Summaries, RanksThatTakeNoPartChangeNothing) {
  Random random(6);
  const Tree tree = MachineMaker(random).make();
  std::vector<Summary> all{summarize_absent()};
  for (int rank = 1; rank < 5; ++rank) {
    all.push_back(summarize(Chain{{Kind::kNode, rank % 2}}, {rank, 0, 0}, Leftover::kNull));
  }
  const Summary merged = merge_all(all, random);
  EXPECT_EQ(merged.depth, 0);
  EXPECT_EQ(merged.absent, 1);
  EXPECT_EQ(number_part(merged, code_of({Kind::kNode, 0}), Leftover::kNull)->index, 1);
  EXPECT_EQ(number_part(merged, code_of({Kind::kNode, 1}), Leftover::kNull)->count, 2);
}

TEST(Summaries, NodesWithOneHostNameAreNoticed) {
  Random random(8);
  std::vector<Summary> all;
  for (int rank = 0; rank < 4; ++rank) {
    all.push_back(summarize(Chain{{Kind::kNode, rank}}, {rank, 0, rank == 3 ? 77U : 1U + static_cast<unsigned>(rank)},
                            Leftover::kNull));
  }
  EXPECT_FALSE(nodes_disagree(merge_all(all, random)));
  all[2].siblings[0].root.host = 77;
  EXPECT_TRUE(nodes_disagree(merge_all(all, random)));
}

}  // namespace
