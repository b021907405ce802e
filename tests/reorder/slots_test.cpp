#include "core/reorder/slots.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/random.h"
#include "core/place/placement.h"
#include "core/split/chain.h"
#include "core/topo/kind.h"
#include "core/topo/tree.h"

namespace {

using namespace ranktree::core;
using reorder::Slots;
using reorder::slots_of;
using split::Chain;
using topo::Kind;
using topo::Leaf;
using topo::Object;

// Every object that contains a leaf, the root first, as pairs of level and object.
std::vector<Object> above(const topo::Tree& tree, Leaf leaf) {
  std::vector<Object> path;
  for (Object object = tree.leaf_object(leaf); object >= 0; object = tree.parent(object)) path.push_back(object);
  std::reverse(path.begin(), path.end());
  return path;
}

std::size_t shared_links(const Chain& a, const Chain& b) {
  std::size_t count = 0;
  while (count < std::min(a.size(), b.size()) && a[count] == b[count]) ++count;
  return count;
}

void expect_bijection(const Slots& slots, std::size_t ranks) {
  place::validate(slots.tree, slots.home, static_cast<int>(ranks), {});
  ASSERT_EQ(slots.rank_at_slot.size(), ranks);
  ASSERT_EQ(static_cast<std::size_t>(slots.tree.leaf_count()), ranks);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const auto leaf = static_cast<std::size_t>(slots.home.leaf_of[rank]);
    EXPECT_EQ(slots.rank_at_slot[leaf], static_cast<int>(rank));
  }
}

// What the tree must have for any two ranks, from their chains alone: the kind of the last object they share, and that
// they have as many common objects as common links.
void expect_pairs(const Slots& slots, const std::vector<Chain>& chains) {
  for (std::size_t a = 0; a < chains.size(); ++a) {
    for (std::size_t b = 0; b < chains.size(); ++b) {
      if (a == b) continue;
      const Leaf here = slots.home.leaf_of[a];
      const Leaf there = slots.home.leaf_of[b];
      const std::size_t shared = shared_links(chains[a], chains[b]);
      const Kind kind = shared == 0 ? Kind::kCluster : chains[a][shared - 1].kind;
      EXPECT_EQ(slots.tree.level(slots.tree.common_level(here, there)).kind, kind);
      const auto path_a = above(slots.tree, here);
      const auto path_b = above(slots.tree, there);
      const auto ends = std::mismatch(path_a.begin(), path_a.end(), path_b.begin(), path_b.end());
      EXPECT_EQ(static_cast<std::size_t>(ends.first - path_a.begin()), shared + 1);
    }
  }
}

TEST(Slots, OneRankIsOneLeaf) {
  const Slots slots = slots_of(std::vector<Chain>{{{Kind::kNode, 3}}});
  EXPECT_EQ(slots.tree.leaf_count(), 1);
  EXPECT_EQ(slots.home.leaf_of, std::vector<Leaf>{0});
  EXPECT_EQ(slots.rank_at_slot, std::vector<int>{0});
}

TEST(Slots, NoRankIsRefused) { EXPECT_THROW(slots_of({}), Error); }

TEST(Slots, EmptyChainsHangBelowTheRoot) {
  const std::vector<Chain> chains{{}, {}, {{Kind::kNode, 0}}};
  const Slots slots = slots_of(chains);
  expect_bijection(slots, 3);
  expect_pairs(slots, chains);
}

// Round robin over two nodes: the ranks of a node are neighbours in the tree, not in number.
TEST(Slots, RanksOfOneNodeAreTogether) {
  const std::vector<Chain> chains{{{Kind::kNode, 7}}, {{Kind::kNode, 2}}, {{Kind::kNode, 7}}, {{Kind::kNode, 2}}};
  const Slots slots = slots_of(chains);
  EXPECT_EQ(slots.rank_at_slot, (std::vector<int>{0, 2, 1, 3}));
  EXPECT_EQ(slots.home.leaf_of, (std::vector<Leaf>{0, 2, 1, 3}));
  // Two branching levels on the path between nodes, one within a node.
  EXPECT_EQ(slots.tree.distance(0, 1), 2);
  EXPECT_EQ(slots.tree.distance(0, 2), 4);
}

TEST(Slots, RanksBoundAlikeAreSiblings) {
  const Chain core{{Kind::kNode, 0}, {Kind::kPackage, 1}, {Kind::kCore, 5}};
  const Slots slots = slots_of(std::vector<Chain>{core, core, core});
  EXPECT_EQ(slots.tree.distance(0, 1), 2);
  EXPECT_EQ(slots.tree.level(slots.tree.common_level(0, 2)).kind, Kind::kCore);
}

// The second is bound to a package, the third to nothing: both skip levels.
TEST(Slots, LooselyBoundRanksHangHigherUp) {
  const std::vector<Chain> chains{{{Kind::kNode, 0}, {Kind::kPackage, 0}, {Kind::kCore, 0}},
                                  {{Kind::kNode, 0}, {Kind::kPackage, 0}},
                                  {{Kind::kNode, 0}},
                                  {{Kind::kNode, 0}, {Kind::kPackage, 1}, {Kind::kCore, 4}}};
  const Slots slots = slots_of(chains);
  expect_bijection(slots, 4);
  expect_pairs(slots, chains);
  EXPECT_EQ(slots.rank_at_slot, (std::vector<int>{0, 1, 2, 3}));
}

// Equal numbers on different nodes or below different switches are different objects.
TEST(Slots, SwitchesOfOneNameAtDifferentDepthsDiffer) {
  const std::vector<Chain> chains{{{Kind::kSwitch, 1}, {Kind::kSwitch, 1}, {Kind::kNode, 0}, {Kind::kCore, 0}},
                                  {{Kind::kSwitch, 1}, {Kind::kSwitch, 2}, {Kind::kNode, 1}, {Kind::kCore, 0}},
                                  {{Kind::kSwitch, 2}, {Kind::kSwitch, 1}, {Kind::kNode, 2}, {Kind::kCore, 0}},
                                  {{Kind::kSwitch, 1}, {Kind::kNode, 3}}};
  const Slots slots = slots_of(chains);
  expect_bijection(slots, 4);
  expect_pairs(slots, chains);
}

// hwloc has both orders. Where an object of one kind holds all that one of the other holds, either is right.
TEST(Slots, KindsThatNestBothWaysShareAnOrderWhereOneHoldsOne) {
  const Chain other{{Kind::kNode, 1}, {Kind::kNumaNode, 0}, {Kind::kPackage, 0}};
  std::vector<Chain> chains{{{Kind::kNode, 0}, {Kind::kPackage, 0}, {Kind::kNumaNode, 0}}, other};
  expect_bijection(slots_of(chains), 2);
  chains.push_back({{Kind::kNode, 0}, {Kind::kPackage, 0}, {Kind::kNumaNode, 1}});
  const Slots slots = slots_of(chains);
  expect_bijection(slots, 3);
  expect_pairs(slots, chains);
  chains.push_back({{Kind::kNode, 1}, {Kind::kNumaNode, 0}, {Kind::kPackage, 1}});
  EXPECT_THROW(slots_of(chains), Error);
}

Chain random_chain(Random& random) {
  Chain chain;
  for (std::uint64_t i = random.below(3); i > 0; --i) {
    chain.push_back({Kind::kSwitch, static_cast<std::int64_t>(random.below(2))});
  }
  chain.push_back({Kind::kNode, static_cast<std::int64_t>(random.below(3))});
  for (const Kind kind : {Kind::kGroup, Kind::kGroup, Kind::kPackage, Kind::kNumaNode, Kind::kL3, Kind::kCore}) {
    if (random.below(2) == 0) chain.push_back({kind, static_cast<std::int64_t>(random.below(3))});
  }
  return chain;
}

TEST(Slots, RandomChainsMeetWhereTheyAgree) {
  Random random(11);
  for (int round = 0; round < 200; ++round) {
    std::vector<Chain> chains(1 + random.below(17));
    for (Chain& chain : chains) chain = random_chain(random);
    const Slots slots = slots_of(chains);
    expect_bijection(slots, chains.size());
    expect_pairs(slots, chains);
  }
}

// The smallest rank below each object, in the order of the tree: children ascend.
TEST(Slots, ObjectsComeInTheOrderOfTheirSmallestRank) {
  Random random(12);
  for (int round = 0; round < 100; ++round) {
    std::vector<Chain> chains(1 + random.below(17));
    for (Chain& chain : chains) chain = random_chain(random);
    const Slots slots = slots_of(chains);
    const topo::Tree& tree = slots.tree;
    const auto smallest = [&](Object object) {
      const auto begin = slots.rank_at_slot.begin() + tree.first_leaf(object);
      return *std::min_element(begin, begin + tree.leaves_below(object));
    };
    for (Object object = 0; object < tree.object_count(); ++object) {
      for (int i = 1; i < tree.child_count(object); ++i) {
        EXPECT_LT(smallest(tree.first_child(object) + i - 1), smallest(tree.first_child(object) + i));
      }
    }
  }
}

}  // namespace
