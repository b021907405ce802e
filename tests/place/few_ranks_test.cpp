// Up to eight ranks on a tree: held against all placements there are, and against optima that are known.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "core/pattern/affinity.h"
#include "core/place/engine.h"
#include "core/place/placement.h"
#include "core/topo/kind.h"
#include "core/topo/tree.h"
#include "fixtures.h"
#include "helpers/sanitized.h"
#include "random_machines.h"

namespace {

using namespace ranktree::core::place;
using namespace ranktree::test;
using ranktree::core::pattern::Affinity;
using ranktree::core::topo::Leaf;
using ranktree::core::topo::Level;

// Every placement there is. Of a machine of these arities, whose leaves are all allowed and take one rank each: of
// subtrees side by side that are empty only the first is tried. Without arities there is no thought of symmetry.
class Exhaustive {
 public:
  Exhaustive(const Tree& tree, const Affinity& affinity, int capacity, std::vector<int> arities = {})
      : tree_(tree),
        affinity_(affinity),
        arities_(std::move(arities)),
        free_(static_cast<std::size_t>(tree.leaf_count()), 0) {
    for (Leaf leaf = 0; leaf < tree.leaf_count(); ++leaf)
      free_[static_cast<std::size_t>(leaf)] = tree.allowed(leaf) ? capacity : 0;
    placement_.leaf_of.assign(static_cast<std::size_t>(affinity.ranks), 0);
  }
  double least() {
    go(0, 0);
    return best_;
  }

 private:
  void go(int rank, double so_far) {
    if (so_far >= best_) return;
    if (rank == affinity_.ranks) {
      best_ = so_far;
      return;
    }
    for (Leaf leaf = 0; leaf < tree_.leaf_count(); ++leaf) {
      int& free = free_[static_cast<std::size_t>(leaf)];
      if (free == 0 || is_like_one_before(leaf)) continue;
      --free;
      placement_.leaf_of[static_cast<std::size_t>(rank)] = leaf;
      double here = so_far;
      for (std::size_t i = 0; i < affinity_.neighbours(rank).size(); ++i) {
        const int other = affinity_.neighbours(rank)[i];
        if (other < rank) {
          here +=
              affinity_.weights_of(rank)[i] * tree_.distance(leaf, placement_.leaf_of[static_cast<std::size_t>(other)]);
        }
      }
      go(rank + 1, here);
      ++free;
    }
  }

  [[nodiscard]] bool is_empty(Leaf first, Leaf leaves) const {
    const auto begin = free_.begin() + first;
    return std::all_of(begin, begin + leaves, [](int free) { return free == 1; });
  }

  [[nodiscard]] bool is_like_one_before(Leaf leaf) const {
    Leaf around = tree_.leaf_count();
    for (const int arity : arities_) {
      const Leaf size = around / arity;
      const Leaf first = leaf / size * size;
      if (first % around != 0 && is_empty(first, size) && is_empty(first - size, size)) return true;
      around = size;
    }
    return false;
  }

  const Tree& tree_;
  const Affinity& affinity_;
  std::vector<int> arities_;
  std::vector<int> free_;
  Placement placement_;
  double best_ = std::numeric_limits<double>::infinity();
};

TEST(FewRanks, UpToEightRanksAreAsGoodAsTryingEverything) {
  for (std::uint64_t seed = 1; seed <= (kSanitized ? 25 : 400); ++seed) {
    const Tree tree = random_tree(seed);
    const int leaves = slots(tree);
    const int most = std::min(leaves, leaves > 20 ? 4 : leaves > 9 ? 5 : 8);
    const int ranks = 1 + static_cast<int>(seed % static_cast<std::uint64_t>(most));
    const Affinity affinity = random_affinity(ranks, seed % 3 == 0 ? 100 : 50, 20, seed);
    for (const Preset preset : kPresets) {
      EngineOptions options;
      options.preset = preset;
      options.constraints.capacity = seed % 7 == 0 ? 2 : 1;
      const Placement found = run_engine(tree, affinity, options);
      validate(tree, found, ranks, options.constraints);
      EXPECT_EQ(cost(tree, affinity, found), Exhaustive(tree, affinity, options.constraints.capacity).least())
          << "seed " << seed;
    }
  }
}

TEST(FewRanks, EightRanksOnLargerMachinesAreAsGoodAsTryingEverything) {
  const std::vector<std::vector<int>> machines = {{2, 3, 2},    {3, 4}, {13},      {5, 3},
                                                  {2, 2, 2, 2}, {4, 4}, {2, 2, 5}, {3, 3, 3}};
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    for (const std::vector<int>& arities : machines) {
      const Tree tree = machine(arities);
      const Affinity affinity = random_affinity(8, seed % 2 == 0 ? 100 : 40, 20, seed);
      const double least = Exhaustive(tree, affinity, 1, arities).least();
      for (const Preset preset : kPresets) {
        EngineOptions options;
        options.preset = preset;
        EXPECT_EQ(cost(tree, affinity, run_engine(tree, affinity, options)), least)
            << "seed " << seed << ", " << tree.leaf_count() << " leaves";
      }
    }
  }
}

// A binary machine that costs `costs` by level, the root's first.
Tree binary(const std::vector<double>& costs) {
  const std::vector<Level> levels(costs.size() + 1, Level{Kind::kGroup, {}, {}});
  return ranktree::core::topo::uniform_tree(levels, std::vector<int>(costs.size(), 2)).with_costs(costs);
}

// Costs that grow towards the root by next to nothing, where no bound separates one placement from another.
std::vector<double> nearly_equal(int levels) {
  std::vector<double> costs;
  for (int level = levels; level > 0; --level) costs.push_back(1 + 0.01 * level);
  return costs;
}

TEST(FewRanks, DeepMachinesWhateverTheirCosts) {
  const std::vector<std::vector<double>> all_costs = {
      {32, 16, 8, 4, 2, 1}, {1, 5, 2, 5, 3, 4}, {1, 2, 3, 4, 5, 6}, {0, 7, 0, 7, 0, 7}, nearly_equal(6)};
  for (const std::vector<double>& costs : all_costs) {
    const Tree tree = binary(costs);
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      const Affinity affinity = random_affinity(6, seed == 1 ? 100 : 60, 20, seed);
      const double least = Exhaustive(tree, affinity, 1, std::vector<int>(costs.size(), 2)).least();
      EXPECT_NEAR(cost(tree, affinity, run_engine(tree, affinity, {})), least, 1e-9 * least) << "seed " << seed;
    }
  }
}

// The heaviest pairs below the lowest groups, as many as fit there, the next heaviest one level up: nothing is cheaper.
TEST(FewRanks, ManyPlacesOfNearlyEqualCostsAreNoTrouble) {
  constexpr int kRanks = 8;
  std::vector<std::vector<double>> matrix(kRanks, std::vector<double>(kRanks, 0));
  for (std::size_t i = 0; i < kRanks; ++i) {
    for (std::size_t j = 0; j < kRanks; ++j) {
      matrix[i][j] = i == j ? 0 : (i ^ j) == 1 ? 100 : (i ^ j) < 4 ? 10 : 1;
    }
  }
  const Affinity affinity = relabelled(from_matrix(matrix), {3, 6, 0, 5, 1, 7, 4, 2});
  for (const int levels : {3, 7, 9}) {
    const Tree tree = binary(nearly_equal(levels));
    const double least = 4 * 100 * 1.01 + 8 * 10 * 1.02 + 16 * 1.03;
    EXPECT_NEAR(cost(tree, affinity, run_engine(tree, affinity, {})), least, 1e-9) << levels << " levels";
  }
}

// Costs that grow towards the root: whatever eight ranks can make of nine levels they can make of the lowest seven.
TEST(FewRanks, LevelsAboveThoseThatAreNeededChangeNothing) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Affinity affinity = random_affinity(8, 60, 20, seed);
    const Tree small = binary(nearly_equal(7));
    const Tree large = binary(nearly_equal(9));
    EXPECT_NEAR(cost(small, affinity, run_engine(small, affinity, {})),
                cost(large, affinity, run_engine(large, affinity, {})), 1e-9)
        << "seed " << seed;
  }
}

TEST(FewRanks, PinnedRanksStayAndTheOthersAreBest) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const Tree tree = binary({4, 3, 2, 1});
    const Affinity affinity = random_affinity(4, 80, 20, seed);
    EngineOptions options;
    options.constraints.pins = {{0, static_cast<Leaf>(seed % 16)}, {2, static_cast<Leaf>((seed + 5) % 16)}};
    const Placement found = run_engine(tree, affinity, options);
    validate(tree, found, affinity.ranks, options.constraints);
    double least = std::numeric_limits<double>::infinity();
    Placement tried = found;
    for (Leaf one = 0; one < tree.leaf_count(); ++one) {
      for (Leaf three = 0; three < tree.leaf_count(); ++three) {
        tried.leaf_of[1] = one;
        tried.leaf_of[3] = three;
        std::vector<Leaf> sorted = tried.leaf_of;
        std::sort(sorted.begin(), sorted.end());
        if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) continue;
        least = std::min(least, cost(tree, affinity, tried));
      }
    }
    EXPECT_EQ(cost(tree, affinity, found), least) << "seed " << seed;
  }
}

// Weights are scaled to 2^52: each two ranks have a cost, all three together have none.
TEST(FewRanks, CostsBeyondADoubleLeaveAValidPlacement) {
  const Affinity affinity = from_matrix({{0, 20, 1}, {20, 0, 1}, {1, 1, 0}});
  for (const Tree& tree : {binary({4e293, 1}), binary({4e293, 4e293, 1}), binary({1, 4e293, 1})}) {
    validate(tree, run_engine(tree, affinity, {}), 3, {});
  }
}

TEST(FewRanks, KeepsTheStartWhenItIsToStop) {
  const Tree tree = binary({4, 3, 2, 1});
  const Affinity affinity = random_affinity(8, 80, 20, 1);
  EngineOptions options;
  options.keep_going = [] { return false; };
  const Placement found = run_engine(tree, affinity, options);
  validate(tree, found, affinity.ranks, {});
  EXPECT_LE(cost(tree, affinity, found), cost(tree, affinity, identity(tree, affinity.ranks, {})));
}

}  // namespace
