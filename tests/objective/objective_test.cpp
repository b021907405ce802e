#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/index.h"
#include "core/base/random.h"
#include "core/objective/flows.h"
#include "core/objective/loads.h"
#include "core/objective/model.h"
#include "core/objective/timed_plan.h"
#include "core/pattern/pattern.h"
#include "core/place/placement.h"
#include "core/place/plan.h"
#include "core/simulate/level_costs.h"
#include "core/simulate/platform.h"
#include "core/topo/interconnect.h"
#include "core/topo/kind.h"
#include "core/topo/tree.h"
#include "helpers/sanitized.h"

namespace {

using namespace ranktree::core::objective;
using ranktree::core::at;
using ranktree::core::Random;
using ranktree::core::pattern::Class;
using ranktree::core::pattern::Entry;
using ranktree::core::pattern::from_entries;
using ranktree::core::pattern::Pattern;
using ranktree::core::pattern::Rank;
using ranktree::core::place::Placement;
using ranktree::core::place::Plan;
using ranktree::core::place::PlanOptions;
using ranktree::core::simulate::level_costs;
using ranktree::core::simulate::Platform;
using ranktree::core::topo::Kind;
using ranktree::core::topo::Leaf;
using ranktree::core::topo::Level;
using ranktree::core::topo::Tree;
using ranktree::core::topo::TreeBuilder;

// Nodes of packages of cores; 1 Gbit/s and 50 us between nodes.
Tree machine(const std::vector<int>& arities) {
  const std::vector<Kind> kinds{Kind::kCluster, Kind::kNode, Kind::kPackage};
  std::vector<Level> levels;
  for (std::size_t i = 0; i < arities.size(); ++i) levels.push_back({kinds[i], {}, {}});
  levels.push_back({Kind::kCore, {}, {}});
  levels[0].latency = 5e-5;
  levels[0].bandwidth = 1.25e8;
  return ranktree::core::topo::uniform_tree(levels, arities);
}

// Nodes of different numbers of cores.
Tree uneven(const std::vector<int>& cores) {
  TreeBuilder builder({{Kind::kCluster, 5e-5, 1.25e8}, {Kind::kNode, {}, {}}, {Kind::kCore, {}, {}}});
  const auto root = builder.add(-1, 0);
  for (std::size_t node = 0; node < cores.size(); ++node) {
    const auto object = builder.add(root, 1, static_cast<int>(node), "n" + std::to_string(node));
    for (int core = 0; core < cores[node]; ++core) builder.add(object, 2, core);
  }
  return std::move(builder).build();
}

Tree torus_machine() {
  ranktree::core::topo::Torus torus;
  torus.sizes = {4};
  torus.wraps = {1};
  torus.steps = {{}};
  return machine({4, 2}).with_interconnect(
      std::make_shared<const ranktree::core::topo::Interconnect>(torus, std::vector<int>{0, 1, 2, 3}));
}

Pattern random_pattern(Rank ranks, int messages, std::uint64_t seed) {
  Random random(seed);
  std::vector<Entry> entries;
  for (int i = 0; i < messages; ++i) {
    const auto from = static_cast<Rank>(random.below(at(ranks)));
    const auto to = static_cast<Rank>(random.below(at(ranks)));
    const auto count = static_cast<double>(random.below(20));
    entries.push_back({from, to, Class::kPointToPoint, count, count * static_cast<double>(random.below(20000))});
  }
  entries.push_back({0, 1, Class::kPointToPoint, 1, 1000});
  return from_entries(ranks, entries);
}

// The same with some of its traffic in phases, pairs in several of them.
Pattern random_phases(Rank ranks, int messages, std::uint64_t seed) {
  Pattern pattern = random_pattern(ranks, messages, seed);
  Random random(seed + 1);
  pattern.phased = true;
  const auto& traffic = pattern.of(Class::kPointToPoint);
  for (int phase = 0; phase < 3; ++phase) {
    auto& made = pattern.phases.emplace_back();
    made.name = "before MPI_Barrier";
    for (std::size_t i = 0; i < pattern.indices.size(); ++i) {
      if (random.below(2) == 0) continue;
      const double share = phase == 2 ? 0.25 : 0.375;  // a pair in all three has no other traffic
      made.pairs.push_back(static_cast<std::int64_t>(i));
      made.traffic.messages.push_back(share * traffic.messages[i]);
      made.traffic.bytes.push_back(share * traffic.bytes[i]);
    }
  }
  return pattern;
}

// The formula of docs/explanation/objectives.md, message by message.
struct Reference {
  Reference(const Platform& platform, const Pattern& pattern, const std::vector<Leaf>& leaf_of) {
    phases.resize(pattern.phases.size() + 1);
    for (Rank from = 0; from < pattern.ranks; ++from) {
      for (auto i = at(pattern.indptr[at(from)]); i < at(pattern.indptr[at(from) + 1]); ++i) {
        const Rank to = pattern.indices[i];
        if (to == from) continue;
        const auto route = platform.route(leaf_of[at(from)], leaf_of[at(to)]);
        const auto& traffic = pattern.of(Class::kPointToPoint);
        std::vector<double> bytes;
        for (const auto& phase : pattern.phases) bytes.push_back(bytes_in(phase, i));
        bytes.push_back(traffic.bytes[i]);
        for (std::size_t phase = 0; phase + 1 < bytes.size(); ++phase) bytes.back() -= bytes[phase];
        for (const auto link : route.links) {
          for (std::size_t phase = 0; phase < bytes.size(); ++phase) {
            phases[phase][link] += bytes[phase] / platform.bandwidth(link);
          }
        }
        double bandwidth = std::numeric_limits<double>::infinity();
        for (const auto link : route.links) bandwidth = std::min(bandwidth, platform.bandwidth(link));
        waiting += (traffic.messages[i] * route.latency + traffic.bytes[i] / bandwidth) / pattern.ranks;
        hop_bytes += traffic.bytes[i] * platform.tree().distance(leaf_of[at(from)], leaf_of[at(to)]);
      }
    }
  }
  static double bytes_in(const ranktree::core::pattern::Phase& phase, std::size_t pair) {
    const auto found = std::find(phase.pairs.begin(), phase.pairs.end(), static_cast<std::int64_t>(pair));
    return found == phase.pairs.end() ? 0 : phase.traffic.bytes[at(found - phase.pairs.begin())];
  }
  [[nodiscard]] Score score(bool waits) const {
    double seconds = waits ? waiting : 0;
    for (const auto& links : phases) {
      double most = 0;
      for (const auto& [link, load] : links) most = std::max(most, load);
      seconds += most;
    }
    return {seconds, hop_bytes};
  }

  std::vector<std::map<int, double>> phases;  // seconds by link
  double waiting = 0;                         // mean over the ranks
  double hop_bytes = 0;
};

void expect_same(const Score& found, const Score& expected) {
  EXPECT_NEAR(found.seconds, expected.seconds, 1e-9 * expected.seconds + 1e-15);
  EXPECT_NEAR(found.hop_bytes, expected.hop_bytes, 1e-9 * expected.hop_bytes);
}

Platform platform_of(const Tree& tree) { return {tree, level_costs(tree)}; }

// The best score of all placements, without any symmetry.
Score best_of_all(const Platform& platform, const Pattern& pattern, bool waiting) {
  const int leaves = platform.tree().leaf_count();
  Score best{std::numeric_limits<double>::infinity(), 0};
  std::vector<Leaf> leaf_of;
  std::vector<char> used(at(leaves), 0);
  const auto extend = [&](auto&& self) -> void {
    if (std::cmp_equal(leaf_of.size(), pattern.ranks)) {
      const Score score = Reference(platform, pattern, leaf_of).score(waiting);
      if (score.better_than(best)) best = score;
      return;
    }
    for (Leaf leaf = 0; leaf < leaves; ++leaf) {
      if (used[at(leaf)] != 0 || !platform.tree().allowed(leaf)) continue;
      used[at(leaf)] = 1;
      leaf_of.push_back(leaf);
      self(self);
      leaf_of.pop_back();
      used[at(leaf)] = 0;
    }
  };
  extend(extend);
  return best;
}

TEST(Loads, EqualTheFormulaAfterAnyMovesAndExchanges) {
  for (const Tree& tree : {machine({3, 2, 2}), uneven({5, 3, 4}), torus_machine()}) {
    const Platform platform = platform_of(tree);
    const Rank ranks = 7;
    const Pattern pattern = random_phases(ranks, 30, 3);
    const Flows flows(pattern);
    Loads loads(platform, flows, true, ranktree::core::place::identity(tree, ranks, {}));
    expect_same(loads.score(), Reference(platform, pattern, loads.leaves()).score(true));
    Random random(5);
    for (int i = 0; i < 50; ++i) {
      const auto a = static_cast<Rank>(random.below(ranks));
      const auto b = static_cast<Rank>((a + 1 + static_cast<Rank>(random.below(ranks - 1))) % ranks);
      if (i % 2 == 0) loads.exchange(a, b);
      if (i % 2 == 1) loads.move(a, tree.leaf_count() - 1 - (i % 3));  // ranks may share a leaf here
      expect_same(loads.score(), Reference(platform, pattern, loads.leaves()).score(true));
    }
  }
}

TEST(Loads, UndoRestoresEachNumberExactly) {
  const Platform platform = platform_of(machine({2, 2, 2}));
  const Flows flows(random_phases(6, 20, 9));
  Loads loads(platform, flows, true, ranktree::core::place::identity(platform.tree(), 6, {}));
  const auto copied = [&] { return std::vector(loads.link_seconds(0).begin(), loads.link_seconds(0).end()); };
  const auto links = copied();
  const double waiting = loads.waiting();
  const auto leaves = loads.leaves();
  const double pressure = loads.pressure();
  const auto mark = loads.mark();
  loads.exchange(0, 5);
  loads.move(2, 7);
  loads.undo_to(mark);
  EXPECT_EQ(copied(), links);
  EXPECT_EQ(loads.waiting(), waiting);
  EXPECT_EQ(loads.leaves(), leaves);
  EXPECT_EQ(loads.pressure(), pressure);
}

TEST(Flows, HoldBothDirectionsAtBothRanks) {
  const Flows flows(from_entries(3, std::vector<Entry>{{0, 2, Class::kPointToPoint, 1, 10},
                                                       {2, 0, Class::kNeighbor, 2, 30},
                                                       {1, 0, Class::kRma, 3, 50},
                                                       {1, 1, Class::kPointToPoint, 1, 99}}));
  ASSERT_EQ(flows.of(0).size(), 2U);
  EXPECT_EQ(flows.of(0)[0].peer, 1);
  EXPECT_EQ(flows.of(0)[0].bytes_in, 50);
  EXPECT_EQ(flows.of(0)[0].bytes_out, 0);
  EXPECT_EQ(flows.of(0)[1].bytes_out, 10);
  EXPECT_EQ(flows.of(0)[1].bytes_in, 30);
  EXPECT_EQ(flows.of(0)[1].messages_in, 2);
  ASSERT_EQ(flows.of(1).size(), 1U);
  EXPECT_EQ(flows.of(1)[0].messages_out, 3);
  ASSERT_EQ(flows.of(2).size(), 1U);
  EXPECT_EQ(flows.of(2)[0].bytes_out, 30);
}

constexpr double kAlike = 1e-3;  // relative difference of times that count as equal

TEST(TimedPlan, IsTheBestOfAllPlacementsOfFewRanks) {
  int instances = 0;
  for (const Tree& tree : {machine({2, 3}), machine({2, 2, 2}), uneven({3, 1, 2}), torus_machine()}) {
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      const auto ranks = static_cast<Rank>(4 + seed % 3);
      const Pattern pattern = (seed % 2 == 0 ? random_pattern : random_phases)(ranks, 12, 100 + seed);
      const Platform platform = platform_of(tree);
      for (const Objective objective : {Objective::kTime, Objective::kBottleneck}) {
        const bool waiting = objective == Objective::kTime;
        const Plan plan = make_plan(tree, pattern, {}, {objective, {}});
        const Score found = Reference(platform, pattern, plan.leaf_of).score(waiting);
        const Score best = best_of_all(platform, pattern, waiting);
        if (found.seconds <= best.seconds * (1 + 1e-9)) {
          expect_same(found, best);
        } else {  // times that are alike, with fewer hop-bytes
          EXPECT_LE(found.seconds, best.seconds * (1 + kAlike));
          EXPECT_LT(found.hop_bytes, best.hop_bytes);
        }
        ++instances;
      }
    }
  }
  EXPECT_EQ(instances, 32);
}

TEST(TimedPlan, IsTheBestOfAllPlacementsOfEightRanksInPhases) {
  const Tree tree = machine({2, 2, 2});
  const Pattern pattern = random_phases(8, 14, 11);
  const Platform platform = platform_of(tree);
  const Plan plan = make_plan(tree, pattern, {}, {Objective::kTime, {}});
  const double best = best_of_all(platform, pattern, true).seconds;
  EXPECT_LE(Reference(platform, pattern, plan.leaf_of).score(true).seconds, best * (1 + kAlike));
}

// By more than what counts as equal.
TEST(TimedPlan, IsNeverWorseThanAnyCandidate) {
  for (std::uint64_t seed = 0; seed < 6; seed += ranktree::test::kSanitized ? 3 : 1) {
    for (const Tree& tree : {machine({4, 2, 4}), uneven({5, 13, 4, 14}), machine({12, 8})}) {
      const Rank ranks = tree.leaf_count() - static_cast<Rank>(seed % 2) * 3;
      Pattern pattern = (seed < 3 ? random_pattern : random_phases)(ranks, ranks * 6, seed);
      for (Rank rank = 0; rank < ranks; ++rank) {
        pattern.metadata.hosts.emplace_back(tree.name(tree.node_of(ranks - 1 - rank)));
      }
      const Platform platform = platform_of(tree);
      const auto [plan, limits] = make_limited_plan(tree, pattern, {}, {Objective::kTime, {}});
      const Score found = Reference(platform, pattern, plan.leaf_of).score(true);
      for (const Objective objective : {Objective::kBytes, Objective::kMessages}) {
        const Plan other = make_plan(tree, pattern, {}, {objective, {}});
        EXPECT_GE(Reference(platform, pattern, other.leaf_of).score(true).seconds, found.seconds / (1 + kAlike));
      }
      for (const Limit& limit : limits) {
        EXPECT_GE(limit.seconds, found.seconds / (1 + kAlike)) << limit.placement;
      }
      EXPECT_EQ(limits.size(), 4U);
    }
  }
}

TEST(TimedPlan, IsTheSameForASeedWhateverTheThreads) {
  const Tree tree = machine({8, 2, 4});
  const Pattern pattern = random_pattern(64, 400, 1);
  PlanOptions options;
  const Plan one = make_plan(tree, pattern, options, {Objective::kTime, {}});
  options.threads = 4;
  EXPECT_EQ(make_plan(tree, pattern, options, {Objective::kTime, {}}).leaf_of, one.leaf_of);
}

TEST(TimedPlan, HonoursPinsAndCapacity) {
  const Tree tree = machine({2, 2});
  const Pattern pattern = random_pattern(8, 40, 2);
  PlanOptions options;
  options.oversubscribe = true;
  options.pins = {{3, 0}, {4, 3}};
  const Plan plan = make_plan(tree, pattern, options, {Objective::kTime, {}});
  EXPECT_EQ(plan.leaf_of[3], 0);
  EXPECT_EQ(plan.leaf_of[4], 3);
  for (Leaf leaf = 0; leaf < 4; ++leaf) EXPECT_EQ(std::count(plan.leaf_of.begin(), plan.leaf_of.end(), leaf), 2);
}

// Times within 0.1 % are equal, and fewer hop-bytes count: a plan that is not the order of ranks has a gain.
TEST(TimedPlan, HasAGainUnlessItIsTheOrderOfRanks) {
  const Tree tree = machine({2, 2});
  const auto pattern_of = [](Rank a, Rank b, Rank c, Rank d) {
    return from_entries(4, std::vector<Entry>{{a, b, Class::kPointToPoint, 1, 1'000'000},
                                              {c, d, Class::kPointToPoint, 1, 1'000'000},
                                              {a, d, Class::kPointToPoint, 1, 1'000'500}});
  };
  for (const Pattern& pattern : {pattern_of(0, 2, 3, 1), pattern_of(0, 1, 2, 3)}) {
    for (const Objective objective : {Objective::kTime, Objective::kBottleneck}) {
      const Plan plan = make_plan(tree, pattern, {}, {objective, {}});
      EXPECT_EQ(plan.gain, plan.leaf_of != ranktree::core::place::identity(tree, 4, {}).leaf_of);
    }
  }
}

TEST(TimedPlan, NamesTheLinkThatLimits) {
  const Tree tree = machine({2, 2});
  const Pattern pattern = from_entries(4, std::vector<Entry>{{0, 2, Class::kPointToPoint, 0, 1.25e8}});
  const auto found = make_limited_plan(tree, pattern, {}, {Objective::kTime, {}}).limits;
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].placement, "identity");
  EXPECT_EQ(found[0].resource, "node n0 up");
  EXPECT_NEAR(found[0].link_seconds, 1, 1e-9);
  EXPECT_NEAR(found[0].waiting_seconds, 0.25, 1e-9);  // one of four ranks waits as long
  EXPECT_NEAR(found[0].seconds, 1.25, 1e-9);
  EXPECT_NEAR(found[0].share, 0.8, 1e-9);
  EXPECT_EQ(found[2].placement, "plan");
  EXPECT_LT(found[2].seconds, 0.1);
}

// Ranks 0 and 1 send to node 1 in one phase, ranks 2 and 3 back in the other: the busiest link is another one.
TEST(TimedPlan, NamesThePhaseThatLimits) {
  const Tree tree = machine({2, 2});
  Pattern pattern = from_entries(
      4, std::vector<Entry>{{0, 2, Class::kPointToPoint, 0, 1e8}, {2, 1, Class::kPointToPoint, 0, 1.25e8}});
  const auto limit = [&] { return limit_of(tree, pattern, {Objective::kBottleneck, {}}, {{0, 1, 2, 3}}); };
  EXPECT_NEAR(limit().seconds, 1, 1e-9);
  EXPECT_TRUE(limit().phases.empty());
  pattern.phased = true;
  pattern.phases = {{"before MPI_Barrier", 20, {0}, {{0}, {1e8}}}};
  const Limit found = limit();
  EXPECT_NEAR(found.seconds, 1.8, 1e-9);
  EXPECT_EQ(found.resource, "node n0 down");
  ASSERT_EQ(found.phases.size(), 2U);
  EXPECT_EQ(found.phases[0].name, "before MPI_Barrier");
  EXPECT_EQ(found.phases[0].count, 20);
  EXPECT_EQ(found.phases[0].resource, "node n0 up");
  EXPECT_NEAR(found.phases[0].seconds, 0.8, 1e-9);
  EXPECT_EQ(found.phase, 1);
}

// In all, each node sends as much as it receives. Where one node sends in each phase, its link limits each of them.
TEST(TimedPlan, SeesABottleneckThatAlternates) {
  const Tree tree = machine({2, 2, 1});
  std::vector<Entry> entries;
  for (const auto& [from, to] : {std::pair{0, 2}, {1, 3}, {2, 0}, {3, 1}}) {
    entries.push_back({from, to, Class::kPointToPoint, 0, 1.25e8});
  }
  Pattern pattern = from_entries(4, entries);
  const auto seconds = [&](const std::vector<Leaf>& leaf_of) {
    return limit_of(tree, pattern, {Objective::kBottleneck, {}}, {leaf_of}).seconds;
  };
  EXPECT_NEAR(seconds({0, 1, 2, 3}), 2, 1e-9);
  pattern.phased = true;
  pattern.phases = {{"", 1, {0, 3}, {{0, 0}, {1.25e8, 1.25e8}}}};
  EXPECT_NEAR(seconds({0, 1, 2, 3}), 2, 1e-9);
  pattern.phases = {{"", 1, {0, 1}, {{0, 0}, {1.25e8, 1.25e8}}}};
  EXPECT_NEAR(seconds({0, 1, 2, 3}), 4, 1e-9);
}

TEST(TimedPlan, NamesMessagesWhoseWaitingLimits) {
  const Tree tree = machine({3, 1});
  const Pattern pattern = from_entries(2, std::vector<Entry>{{0, 1, Class::kPointToPoint, 1000, 1000}});
  const auto found = make_limited_plan(tree, pattern, {}, {Objective::kTime, {}}).limits;
  EXPECT_EQ(found[0].resource, "messages one after another");
  EXPECT_NEAR(found[0].waiting_seconds, (1000 * 5e-5 + 1000 / 1.25e8) / 2, 1e-12);
}

TEST(Model, ReadsNamesAndMeasuredParameters) {
  for (const auto& [name, objective] : kObjectives) {
    EXPECT_EQ(objective_named(name), objective);
    EXPECT_EQ(objective_name(objective), name);
  }
  EXPECT_THROW(objective_named("hops"), ranktree::core::Error);
  const auto slow = parameters_of_class("ethernet-1g");
  ASSERT_TRUE(slow);
  EXPECT_DOUBLE_EQ(level_costs(machine({2, 2}), *slow)[0].bandwidth, 1.25e8);
  EXPECT_FALSE(parameters_of_class("token-ring"));
  // They are of levels, which a torus has none of.
  EXPECT_THROW(make_plan(torus_machine(), random_pattern(8, 9, 1), {}, {Objective::kTime, slow}),
               ranktree::core::Error);
}

// As many bytes leave the busiest node in both; only the sum of the messages differs.
TEST(Loads, PreferAChainThatCrossesFewerLinks) {
  const Tree tree = machine({4, 2});
  std::vector<Entry> entries;
  for (Rank rank = 0; rank < 4; ++rank) entries.push_back({rank, (rank + 1) % 4, Class::kPointToPoint, 1, 1e6});
  const Pattern ring = from_entries(4, entries);
  const auto seconds = [&](const std::vector<Leaf>& leaf_of) {
    return limit_of(tree, ring, {Objective::kTime, {}}, {leaf_of}).seconds;
  };
  EXPECT_NEAR(seconds({0, 2, 4, 6}), 2 * 0.008 + 5e-5, 1e-9);
  EXPECT_LT(seconds({0, 1, 2, 3}), seconds({0, 2, 4, 6}) * 0.8);
  const auto link_seconds = [&](const std::vector<Leaf>& leaf_of) {
    return limit_of(tree, ring, {Objective::kTime, {}}, {leaf_of}).link_seconds;
  };
  EXPECT_NEAR(link_seconds({0, 1, 2, 3}), link_seconds({0, 2, 4, 6}), 1e-12);
}

TEST(Loads, LatencyIsTheTimeOfMessagesWithoutBytes) {
  const Tree tree = machine({2, 2, 2});
  const std::vector<Leaf> leaf_of{3, 1, 4, 0, 5, 7, 2, 6};
  for (const Pattern& pattern : {random_pattern(8, 40, 1), random_phases(8, 40, 2)}) {
    Pattern empty = pattern;
    for (auto& traffic : empty.traffic) std::fill(traffic.bytes.begin(), traffic.bytes.end(), 0);
    for (auto& phase : empty.phases) std::fill(phase.traffic.bytes.begin(), phase.traffic.bytes.end(), 0);
    const double seconds = latency_seconds(tree, pattern, {Objective::kTime, {}}, {leaf_of});
    EXPECT_GT(seconds, 0);
    EXPECT_NEAR(seconds, limit_of(tree, empty, {Objective::kTime, {}}, {leaf_of}).seconds, 1e-12 * seconds);
    EXPECT_EQ(latency_seconds(tree, pattern, {Objective::kBottleneck, {}}, {leaf_of}), 0);
  }
}

TEST(TimedPlan, RefusesANetworkWithoutNodes) {
  const Tree tree = ranktree::core::topo::uniform_tree(
      std::vector<Level>{{Kind::kCluster, {}, {}}, {Kind::kCore, {}, {}}}, std::vector<int>{4});
  try {
    (void)make_plan(tree, random_pattern(4, 8, 1), {}, {Objective::kTime, {}});
    FAIL();
  } catch (const ranktree::core::Error& error) {
    EXPECT_NE(std::string(error.what()).find("network of nodes"), std::string::npos);
  }
}

}  // namespace
