#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/random.h"
#include "core/pattern/affinity.h"
#include "core/pattern/matrix.h"
#include "core/pattern/pattern.h"
#include "core/place/plan.h"
#include "core/place/traced_nodes.h"
#include "core/topo/tree.h"
#include "fixtures.h"

namespace {

using namespace ranktree::core::place;
using ranktree::core::Error;
using ranktree::core::Fault;
using ranktree::core::Random;
using ranktree::core::pattern::Class;
using ranktree::core::pattern::Entry;
using ranktree::core::pattern::from_entries;
using ranktree::core::pattern::MatrixView;
using ranktree::core::pattern::Metric;
using ranktree::core::pattern::Pattern;
using ranktree::core::topo::Leaf;
using ranktree::test::machine;

double cost_of(const Plan& plan, const std::string& row) {
  const auto found =
      std::find_if(plan.costs.begin(), plan.costs.end(), [&](const CostRow& each) { return each.placement == row; });
  return found == plan.costs.end() ? -1 : found->total;
}

// Rank i talks to i + 2: on two nodes of two cores, order 0 1 2 3 crosses nodes every time.
Pattern crossed() {
  return from_entries(4, std::vector<Entry>{{0, 2, Class::kPointToPoint, 1, 100}, {3, 1, Class::kPointToPoint, 1, 50}});
}

TEST(Plan, BringsPartnersTogetherAndStatesTheGain) {
  const Plan plan = make_plan(machine({2, 2}), crossed(), {});
  EXPECT_TRUE(plan.gain);
  EXPECT_EQ(cost_of(plan, "identity"), 150 * 4);
  EXPECT_EQ(cost_of(plan, "plan"), 150 * 2);
  EXPECT_EQ(plan.slots[0].host, plan.slots[2].host);
  EXPECT_EQ(plan.slots[1].host, plan.slots[3].host);
  EXPECT_EQ(plan.levels, (std::vector<std::string>{"Cluster", "Node", "Core"}));
  EXPECT_EQ(plan.hosts, (std::vector<std::string>{"n0", "n1"}));
}

// The bound and the other rows are kept, yet nothing differs from a plan that is made with the placement at once.
TEST(Plan, AnotherPlacementGivesThePlanOfAWholeComputation) {
  for (const bool traced : {false, true}) {
    Pattern pattern = crossed();
    if (traced) pattern.metadata.hosts = {"n1", "n0", "n1", "n0"};
    const Plan found = make_plan(machine({2, 2}), pattern, {});
    for (const Placement& placement : {Placement{{3, 1, 0, 2}}, Placement{{1, 0, 2, 3}}, Placement{found.leaf_of}}) {
      PlanOptions options;
      options.placement = placement;
      const Plan expected = make_plan(machine({2, 2}), pattern, options);
      const Plan made = with_placement(found, machine({2, 2}), pattern, options);
      EXPECT_EQ(made.leaf_of, expected.leaf_of);
      EXPECT_EQ(made.algorithm, expected.algorithm);
      EXPECT_EQ(made.metric, expected.metric);
      EXPECT_EQ(made.gain, expected.gain);
      EXPECT_EQ(made.bound, expected.bound);
      EXPECT_EQ(made.cost_by_level, expected.cost_by_level);
      ASSERT_EQ(made.costs.size(), traced ? 4U : 3U);
      for (std::size_t row = 0; row < made.costs.size(); ++row) {
        EXPECT_EQ(made.costs[row].placement, expected.costs[row].placement);
        EXPECT_EQ(made.costs[row].weight, expected.costs[row].weight);
        EXPECT_EQ(made.costs[row].total, expected.costs[row].total);
      }
      ASSERT_EQ(made.slots.size(), expected.slots.size());
      for (std::size_t rank = 0; rank < made.slots.size(); ++rank) {
        EXPECT_EQ(made.slots[rank].host, expected.slots[rank].host);
        EXPECT_EQ(made.slots[rank].pus, expected.slots[rank].pus);
      }
    }
  }
}

// What throws, and with which words.
std::string refusal_of(const Pattern& pattern, const PlanOptions& options) {
  std::string text;
  for (const bool placement_only : {false, true}) {
    try {
      placement_only ? (void)compute_placement(machine({2, 2}), pattern, options)
                     : (void)make_plan(machine({2, 2}), pattern, options);
      return "nothing";
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), Fault::kInput);
      if (placement_only) {
        EXPECT_EQ(error.what(), text);
      }
      text = error.what();
    }
  }
  return text;
}

// Placing by what the pattern does not know would be "no gain", said of something else.
TEST(Plan, AnAmountThatIsUnknownIsRefused) {
  const auto with = [](double messages, double bytes) {
    return from_entries(4, std::vector<Entry>{{0, 2, Class::kPointToPoint, messages, bytes}});
  };
  PlanOptions options;
  EXPECT_EQ(
      refusal_of(with(3, 0), options),
      "pattern: expected bytes, which metric 'size' counts, found numbers of messages only: place by metric 'msg'");
  for (const auto& [metric, name] : {std::pair(Metric::kMessages, "msg"), std::pair(Metric::kAverage, "avg")}) {
    options.metric = metric;
    EXPECT_EQ(refusal_of(with(0, 9), options), "pattern: expected numbers of messages, which metric '" +
                                                   std::string(name) +
                                                   "' counts, found bytes only: place by metric 'size'");
    EXPECT_EQ(refusal_of(with(3, 9), options), "nothing");
    EXPECT_EQ(refusal_of(with(0, 0), options), "nothing");
  }
  options.metric = Metric::kSize;
  EXPECT_EQ(refusal_of(from_entries(4, std::vector<Entry>{{1, 1, Class::kPointToPoint, 1, 0}}), options), "nothing");
}

TEST(Plan, ACostBeyondDoublesIsRefused) {
  const std::vector<double> huge{0, 1e308, 1e308, 1e308, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  const MatrixView<double> view{4, huge.data()};
  for (const char* algorithm : {"best", "identity", "greedy"}) {
    PlanOptions options;
    options.algorithm = algorithm;
    try {
      (void)make_plan(machine({2, 2}), ranktree::core::pattern::Matrix(view), options);
      ADD_FAILURE() << algorithm << " accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), Fault::kInput);
      EXPECT_NE(std::string(error.what()).find("beyond what a double holds"), std::string::npos) << error.what();
    }
  }
}

TEST(Plan, NoRanksAreRefused) {
  EXPECT_THROW((void)make_plan(machine({2, 2}), ranktree::core::pattern::Affinity{}, {}), Error);
}

TEST(Plan, NoGainKeepsIdentityAndStatesIt) {
  const auto pattern = from_entries(4, std::vector<Entry>{{0, 1, Class::kPointToPoint, 1, 100}});
  for (const char* algorithm : {"best", "treematch", "greedy", "random", "round-robin", "identity"}) {
    PlanOptions options;
    options.algorithm = algorithm;
    const Plan plan = make_plan(machine({2, 2}), pattern, options);
    EXPECT_FALSE(plan.gain);
    EXPECT_EQ(plan.algorithm, "identity");
    EXPECT_EQ(cost_of(plan, "plan"), cost_of(plan, "identity"));
    EXPECT_EQ(plan.slots[1].pus, (std::vector<int>{1}));
  }
}

TEST(Plan, KnowsWhereTheRanksWere) {
  Pattern pattern = crossed();
  pattern.metadata.hosts = {"n0", "n1", "n0", "n1"};  // already as good as it gets
  const Plan plan = make_plan(machine({2, 2}), pattern, {});
  EXPECT_EQ(cost_of(plan, "traced"), 150 * 2);
  EXPECT_FALSE(plan.gain);
  EXPECT_EQ(plan.algorithm, "traced");
}

std::vector<std::string> nodes_of(const ranktree::test::Tree& tree, const std::vector<std::string>& hosts,
                                  bool oversubscribe = false) {
  PlanOptions options;
  options.oversubscribe = oversubscribe;
  return traced_nodes(tree, hosts, options).nodes;
}

TEST(TracedNodes, AreThoseOfTheSameNameWithOrWithoutTheDomain) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(nodes_of(machine({2, 2}), {"n1", "n0", "n1"}), (Names{"n1", "n0", "n1"}));
  EXPECT_EQ(nodes_of(machine({2, 2}), {"n1.here", "n0"}), (Names{"n1", "n0"}));
  EXPECT_TRUE(traced_nodes(machine({2, 2}), {"n1.here", "n0"}, {}).note.empty());
}

TEST(TracedNodes, AreInOrderWhereTheMachineLacksAHost) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(nodes_of(machine({2, 2}), {"n1", "b", "n1"}), (Names{"n0", "n1", "n0"}));
  EXPECT_EQ(traced_nodes(machine({7, 1}), {"f", "e", "d", "c", "b", "a"}, {}).note,
            "the hosts of the trace (f, e, d, c and 2 more) are not hosts of the machine: the traced placement is that "
            "on its nodes in order (n0, n1, n2, n3 and 2 more)");
}

TEST(TracedNodes, AreNoneWhereAHostHadMoreRanksThanItsNodeHasSlots) {
  EXPECT_TRUE(nodes_of(machine({2, 2}), {"a", "a", "a", "b"}).empty());
  EXPECT_EQ(nodes_of(machine({2, 2}), {"a", "a", "a", "b", "b"}, true).size(), 5U);
  EXPECT_TRUE(nodes_of(machine({2, 2}).with_allowed(std::vector<Leaf>{1, 2, 3}), {"a", "a", "b"}).empty());
  EXPECT_TRUE(nodes_of(machine({2, 2}), {"a", "b", "c"}).empty());
  EXPECT_FALSE(traced_nodes(machine({2, 2}), {"a", "b", "c"}, {}).note.empty());
}

TEST(TracedNodes, AreNoneAndUnreportedWhereAHostIsUnknown) {
  EXPECT_TRUE(nodes_of(machine({2, 2}), {}).empty());
  EXPECT_TRUE(nodes_of(machine({2, 2}), {"a", "", "a"}).empty());
  EXPECT_TRUE(traced_nodes(machine({2, 2}), {"a", "", "a"}, {}).note.empty());
}

TEST(Plan, HostsThatTheMachineLacksAreNotUsed) {
  Pattern pattern = crossed();
  pattern.metadata.hosts = {"a", "b", "a", "b"};
  EXPECT_EQ(cost_of(make_plan(machine({2, 2}), pattern, {}), "traced"), -1);
}

TEST(Plan, TheMetricDecides) {
  // Many small messages against few large ones.
  const auto pattern = from_entries(
      3, std::vector<Entry>{{0, 1, Class::kPointToPoint, 1000, 10}, {0, 2, Class::kPointToPoint, 1, 1000}});
  PlanOptions options;
  options.metric = ranktree::core::pattern::Metric::kMessages;
  EXPECT_EQ(make_plan(machine({2, 2}), pattern, options).slots[0].host,
            make_plan(machine({2, 2}), pattern, options).slots[1].host);
  options.metric = ranktree::core::pattern::Metric::kSize;
  const Plan by_size = make_plan(machine({2, 2}), pattern, options);
  EXPECT_EQ(by_size.slots[0].host, by_size.slots[2].host);
  EXPECT_NE(by_size.slots[0].host, by_size.slots[1].host);
}

TEST(Plan, TooManyRanksAreAMismatchUnlessOversubscriptionIsAllowed) {
  const auto pattern = from_entries(5, {});
  try {
    make_plan(machine({2, 2}), pattern, {});
    FAIL() << "expected an error";
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::kMismatch);
  }
  PlanOptions options;
  options.oversubscribe = true;
  EXPECT_EQ(make_plan(machine({2, 2}), pattern, options).slots.size(), 5U);
}

// Random directed traffic between `ranks` ranks.
Pattern random_pattern(int ranks, std::uint64_t seed) {
  Random random(seed);
  std::vector<Entry> entries;
  for (int from = 0; from < ranks; ++from) {
    for (int to = 0; to < ranks; ++to) {
      if (from != to && random.below(3) == 0) {
        entries.push_back({from, to, Class::kPointToPoint, 1, static_cast<double>(1 + random.below(1000))});
      }
    }
  }
  return from_entries(ranks, entries);
}

TEST(Plan, NeverCostsMoreThanIdentityWhateverTheAlgorithm) {
  for (const char* algorithm : {"best", "treematch", "greedy", "random", "round-robin", "identity"}) {
    for (int ranks = 1; ranks <= 17; ++ranks) {
      PlanOptions options;
      options.algorithm = algorithm;
      options.seed = static_cast<std::uint64_t>(ranks);
      const Plan plan = make_plan(machine({3, 2, 3}), random_pattern(ranks, options.seed), options);
      EXPECT_LE(cost_of(plan, "plan"), cost_of(plan, "identity")) << algorithm << " " << ranks;
      EXPECT_EQ(plan.gain, cost_of(plan, "plan") < cost_of(plan, "identity")) << algorithm << " " << ranks;
    }
  }
}

TEST(Plan, TheBestIsNoMoreThanAnyOfItsPortfolio) {
  for (int ranks = 2; ranks <= 18; ++ranks) {
    const Pattern pattern = random_pattern(ranks, static_cast<std::uint64_t>(100 + ranks));
    const double best = cost_of(make_plan(machine({3, 2, 3}), pattern, {}), "plan");
    for (const char* algorithm : {"treematch", "greedy", "round-robin", "identity"}) {
      PlanOptions options;
      options.algorithm = algorithm;
      EXPECT_LE(best, cost_of(make_plan(machine({3, 2, 3}), pattern, options), "plan")) << algorithm << " " << ranks;
    }
  }
}

TEST(Plan, AStoppedSearchCostsNoMoreThanRoundRobin) {
  std::vector<Entry> entries;
  for (int rank = 0; rank < 4; ++rank) entries.push_back({rank, rank + 4, Class::kPointToPoint, 1, 100});
  PlanOptions options;
  options.keep_going = [] { return false; };
  const Plan plan = make_plan(machine({4, 2}), from_entries(8, entries), options);
  EXPECT_TRUE(plan.stopped);
  EXPECT_TRUE(plan.gain);
  EXPECT_EQ(cost_of(plan, "plan"), cost_of(plan, "round-robin"));
}

TEST(ComputePlacement, IsTheAlgorithmsOwnEvenWhereIdentityIsCheaper) {
  const auto pattern = from_entries(4, std::vector<Entry>{{0, 1, Class::kPointToPoint, 1, 100}});
  PlanOptions options;
  options.algorithm = "round-robin";
  EXPECT_EQ(compute_placement(machine({2, 2}), pattern, options).leaf_of, (std::vector<int>{0, 2, 1, 3}));
}

TEST(Plan, AnUnknownAlgorithmIsNamed) {
  PlanOptions options;
  options.algorithm = "magic";
  EXPECT_THROW(make_plan(machine({2, 2}), crossed(), options), Error);
}

}  // namespace
