// Leaves that are excluded.
#include "core/topo/forbid.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/topo/kind.h"
#include "core/topo/tree.h"

namespace {

using namespace ranktree::core::topo;

Tree two_nodes() {  // 2 nodes of 4 cores
  const std::vector<Level> levels{{Kind::kCluster, {}, {}}, {Kind::kNode, {}, {}}, {Kind::kCore, {}, {}}};
  return uniform_tree(levels, std::vector<int>{2, 4});
}

std::vector<Leaf> allowed(const Tree& tree) {
  std::vector<Leaf> leaves;
  for (Leaf leaf = 0; leaf < tree.leaf_count(); ++leaf) {
    if (tree.allowed(leaf)) leaves.push_back(leaf);
  }
  return leaves;
}

TEST(Forbid, OnEveryNodeOrOnOne) {
  const Tree tree = forbid(two_nodes(), std::nullopt, std::vector<int>{3, 0, 3});
  EXPECT_EQ(allowed(tree), (std::vector<Leaf>{1, 2, 5, 6}));
  EXPECT_EQ(allowed(forbid(tree, "n1", std::vector<int>{1})), (std::vector<Leaf>{1, 2, 6})) << "in addition";
  EXPECT_EQ(allowed(forbid(tree, "n1", std::vector<int>{0})), allowed(tree)) << "what is forbidden may be again";
  EXPECT_EQ(allowed(forbid(tree, std::nullopt, {})), allowed(tree));
}

TEST(Forbid, ALeafThatOwnsOneOfThem) {
  const Tree nodes = two_nodes().cut_at(Kind::kNode);
  EXPECT_EQ(allowed(forbid(nodes, "n0", std::vector<int>{2})), (std::vector<Leaf>{1}));
}

TEST(Forbid, APuThatIsNotThereIsNamed) {
  const auto refusal = [](std::optional<std::string> host, const std::vector<int>& pus) -> std::string {
    try {
      (void)forbid(two_nodes(), host, pus);
    } catch (const ranktree::core::Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(refusal(std::nullopt, {7, 1, 4}), "the machine has no such PU: 4");
  EXPECT_EQ(refusal("n1", {-1}), "the machine has no such PU: n1:-1");
  EXPECT_EQ(refusal("n2", {0}), "the machine has no such PU: n2:0");
}

}  // namespace
