// The examples of hsplit-2018 §5 and §7.4, and the cases in which MPI libraries went wrong: exact answers, level by
// level.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "core/base/random.h"
#include "core/split/chain.h"
#include "core/split/summary.h"
#include "core/topo/tree.h"
#include "fixtures.h"
#include "hw/hwloc_node.h"
#include "io/file.h"
#include "reference.h"

namespace {

using namespace ranktree::core::split;
using nlohmann::json;
using ranktree::core::Random;
using ranktree::core::topo::Tree;
using Groups = std::set<std::vector<int>>;

json vectors() { return json::parse(ranktree::io::read_file(std::string(RANKTREE_TEST_DATA) + "/hsplit.json")); }

json vector_named(const std::string& name) {
  for (const json& one : vectors()) {
    if (one["name"] == name) return one;
  }
  return {};
}

std::vector<Spot> spots_of(const json& one, const Tree& tree) {
  std::vector<Spot> spots;
  for (std::size_t node = 0; node < one["binds"].size(); ++node) {
    for (const json& pus : one["binds"][node]) {
      spots.push_back({{}, static_cast<std::int64_t>(node), &tree, pus.get<std::vector<int>>()});
    }
  }
  return spots;
}

// One step of all communicators of a level.
struct Step {
  Groups parts;                         // by rank in the first communicator
  std::vector<std::vector<int>> roots;  // of each communicator that was split
  std::set<std::string> types;
};

Step split_all(const Groups& parents, const std::vector<Spot>& spots, Leftover leftover) {
  Step step;
  Random random(1);
  for (const std::vector<int>& parent : parents) {
    std::vector<Spot> members;
    for (const int rank : parent) members.push_back(spots[static_cast<std::size_t>(rank)]);
    const auto outcomes = fast_split(members, {}, leftover, random);
    EXPECT_EQ(outcomes, reference_split(members, {}, leftover));
    std::map<int, int> root_of_index;
    for (const Outcome& outcome : outcomes) {
      if (outcome.members.empty()) continue;
      std::vector<int> part;
      for (const int i : outcome.members) part.push_back(parent[static_cast<std::size_t>(i)]);
      root_of_index[outcome.index] = part.front();
      step.parts.insert(part);
      step.types.insert(outcome.type);
    }
    if (root_of_index.empty()) continue;
    auto& roots = step.roots.emplace_back();
    for (const auto& [index, root] : root_of_index) roots.push_back(root);
  }
  return step;
}

class Vectors : public testing::TestWithParam<std::string> {};

TEST_P(Vectors, SplitAsThePaperAndTheIssuesState) {
  const json one = vector_named(GetParam());
  const Tree tree = ranktree::hw::synthetic_node(one["topo"]);
  const std::vector<Spot> spots = spots_of(one, tree);
  std::vector<int> world(spots.size());
  for (std::size_t i = 0; i < world.size(); ++i) world[i] = static_cast<int>(i);
  Groups current{world};
  for (const json& expected : one["steps"]) {
    const Step step = split_all(current, spots, Leftover::kNull);
    EXPECT_EQ(step.parts, expected["comms"].get<Groups>());
    if (expected.contains("type")) {
      EXPECT_EQ(step.types, std::set<std::string>{expected["type"]});
    }
    if (expected.contains("roots")) {
      EXPECT_EQ(step.roots, expected["roots"].get<std::vector<std::vector<int>>>());
    }
    current = step.parts;
  }
  EXPECT_TRUE(current.empty());
}

INSTANTIATE_TEST_SUITE_P(All, Vectors,
                         testing::Values("sec5.1", "sec5.2_fig2", "genoa_pe3 (ompi#12812)", "nontransitive",
                                         "unbound_1node", "leftover", "snc", "smt2"));

TEST(Figure14, RootsOfTheMachineWithUnequalSwitches) {
  const json one = vector_named("fig14_NTW24E5");
  const Tree tree = ranktree::hw::synthetic_node(one["topo"]);
  std::vector<Spot> spots;
  const std::vector<int> nodes_of_switch{12, 6, 4, 2};
  std::int64_t node = 0;
  for (std::size_t leaf = 0; leaf < nodes_of_switch.size(); ++leaf) {
    for (int i = 0; i < nodes_of_switch[leaf]; ++i, ++node) {
      for (int pu = 0; pu < tree.leaf_count(); ++pu) spots.push_back({{"s" + std::to_string(leaf)}, node, &tree, {pu}});
    }
  }
  ASSERT_EQ(spots.size(), 576U);
  std::vector<int> world(spots.size());
  for (std::size_t i = 0; i < world.size(); ++i) world[i] = static_cast<int>(i);
  Groups current{world};
  for (const json& expected : one["roots_per_level"]) {
    const Step step = split_all(current, spots, Leftover::kNull);
    ASSERT_EQ(step.roots.size(), expected[0].get<std::size_t>());
    std::vector<std::size_t> sizes;
    for (const auto& roots : step.roots) sizes.push_back(roots.size());
    std::vector<std::size_t> wanted = expected[1];
    wanted.resize(sizes.size(), wanted.back());
    EXPECT_EQ(sizes, wanted);
    current = step.parts;
  }
  EXPECT_TRUE(split_all(current, spots, Leftover::kNull).parts.empty());
}

}  // namespace
