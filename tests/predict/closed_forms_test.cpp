// Closed forms against schedules followed message by message.
#include "core/predict/closed_forms.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "core/predict/candidates.h"
#include "core/predict/choice.h"
#include "core/predict/costs.h"
#include "core/predict/evaluate.h"
#include "core/predict/parameters.h"
#include "core/schedule/hierarchy.h"
#include "core/schedule/makers.h"
#include "core/schedule/schedule.h"
#include "core/schedule/transform.h"
#include "helpers/collectives.h"

namespace ranktree::core::predict {
namespace {

using schedule::Algorithm;
using schedule::Collective;
using schedule::Hierarchy;
using schedule::Rank;
using schedule::Request;
using schedule::Schedule;
using test::kEveryCollective;

constexpr double kReduce = 5e-4;
constexpr Line kLink{1, 1e-3};
constexpr std::int64_t kBytes = 65536;

Request request_of(Collective collective, Rank ranks) {
  return {.collective = collective, .ranks = ranks, .count = collective == Collective::kBarrier ? 0 : kBytes};
}

double cost_of(const Schedule& schedule) {
  return evaluate(schedule, uniform({kLink.latency, kLink.per_byte}, kReduce));
}

// Complete binary trees have one node less.
bool is_binary(Algorithm algorithm) {
  return algorithm == Algorithm::kBinary || algorithm == Algorithm::kSplitBinary ||
         algorithm == Algorithm::kInOrderBinary;
}

TEST(ClosedForms, AreThoseOfTheBaseSchedules) {
  for (const Collective collective : kEveryCollective) {
    for (const Algorithm algorithm : algorithms_of(collective)) {
      const Rank ranks = is_binary(algorithm) ? 31 : 32;
      const auto form = base_form(collective, algorithm, {ranks, kLink}, kReduce);
      const std::string name = std::string(collective_name(collective)) + " " + std::string(algorithm_name(algorithm));
      EXPECT_EQ(form.has_value(), algorithm != Algorithm::kNonOverlapping) << name;
      if (!form) continue;
      const double bytes = collective == Collective::kBarrier ? 0 : kBytes;
      const double found = cost_of(make_all(request_of(collective, ranks), {algorithm, 0}));
      EXPECT_NEAR(form->seconds(bytes) / found, 1, 1e-9) << name;
    }
  }
}

TEST(ClosedForms, AreThoseOfSegmentedTrees) {
  struct Case {
    Collective collective;
    Algorithm algorithm;
  };
  for (const auto& [collective, algorithm] :
       {Case{Collective::kBroadcast, Algorithm::kPipeline}, Case{Collective::kBroadcast, Algorithm::kFlat},
        Case{Collective::kBroadcast, Algorithm::kBinary}, Case{Collective::kBroadcast, Algorithm::kSplitBinary},
        Case{Collective::kBroadcast, Algorithm::kBinomial}, Case{Collective::kBroadcast, Algorithm::kKNomial},
        Case{Collective::kReduce, Algorithm::kPipeline}, Case{Collective::kReduce, Algorithm::kKNomial},
        Case{Collective::kReduce, Algorithm::kBinary}, Case{Collective::kReduce, Algorithm::kInOrderBinary}}) {
    const Rank ranks = is_binary(algorithm) ? 31 : 32;
    for (const std::int64_t segments : {2, 4, 16}) {
      const std::int64_t segment = kBytes / segments;
      const auto form = base_form(collective, algorithm, {ranks, kLink}, kReduce);
      const double found = cost_of(make_all(request_of(collective, ranks), {algorithm, segment}));
      EXPECT_NEAR(form->seconds(kBytes, static_cast<double>(segment)) / found, 1, 1e-9)
          << collective_name(collective) << " " << algorithm_name(algorithm) << " " << segments;
    }
  }
}

// hier-reduce-2016 (3), corrected.
TEST(ClosedForms, CountTheSegmentedRingsRounds) {
  const auto form = base_form(Collective::kAllreduce, Algorithm::kSegmentedRing, {32, kLink}, kReduce);
  const std::int64_t segment = kBytes / 32 / 4;
  const double found = cost_of(make_all(request_of(Collective::kAllreduce, 32), {Algorithm::kSegmentedRing, segment}));
  EXPECT_NEAR(form->seconds(kBytes, static_cast<double>(segment)) / found, 1, 1e-9);
}

struct Levels {
  std::vector<Rank> sizes;
  std::vector<std::vector<std::int32_t>> colours;
};

// 32 ranks in two levels, 64 in three.
Levels two() {
  Levels levels{{4, 8}, {{}}};
  for (Rank rank = 0; rank < 32; ++rank) levels.colours[0].push_back(rank / 8);
  return levels;
}
Levels three() {
  Levels levels{{4, 2, 8}, {{}, {}}};
  for (Rank rank = 0; rank < 64; ++rank) {
    levels.colours[0].push_back(rank / 16);
    levels.colours[1].push_back(rank / 8);
  }
  return levels;
}

// The links of levels differ.
constexpr Line kLinks[] = {{10, 2e-3}, {3, 1e-3}, {1, 5e-4}};

void expect_plan(const Levels& levels, Collective collective, schedule::Form form,
                 const std::vector<Algorithm>& algorithms, std::int64_t segment, double tolerance = 1e-9) {
  const Hierarchy hierarchy = Hierarchy::from_colours(levels.colours);
  std::vector<Stretch> stretches;
  for (std::size_t i = 0; i < levels.sizes.size(); ++i) stretches.push_back({levels.sizes[i], kLinks[i]});
  const Hockney model{
      .link =
          [&levels](Rank from, Rank to) {
            std::size_t level = 0;
            while (level < levels.colours.size() && levels.colours[level][static_cast<std::size_t>(from)] ==
                                                        levels.colours[level][static_cast<std::size_t>(to)]) {
              ++level;
            }
            return Link{kLinks[level].latency, kLinks[level].per_byte};
          },
      .reduce = kReduce};
  const Request request = request_of(collective, hierarchy.ranks());
  const double found =
      evaluate(transform_all(request, hierarchy, {.form = form, .algorithms = algorithms, .segment = segment}), model);
  const auto closed = composed_form(collective, form, algorithms, stretches, kReduce);
  ASSERT_TRUE(closed.has_value());
  const double bytes = collective == Collective::kBarrier ? 0 : kBytes;
  std::string name;
  for (const Algorithm each : algorithms) name += " " + std::string(algorithm_name(each));
  EXPECT_NEAR(closed->seconds(bytes, static_cast<double>(segment)) / found, 1, tolerance)
      << collective_name(collective) << " " << form_name(form) << name << " segment " << segment;
}

TEST(ClosedForms, AreThoseOfLeaders) {
  using enum Algorithm;
  const auto leaders = schedule::Form::kLeaders;
  for (const Algorithm inner : {kFlat, kBinomial, kChain}) {
    for (const Algorithm outer : {kFlat, kBinomial, kChain, kScatterRing, kScatterDoubling}) {
      expect_plan(two(), Collective::kBroadcast, leaders, {outer, inner}, 0);
      expect_plan(three(), Collective::kBroadcast, leaders, {outer, inner, inner}, 0);
    }
    for (const Algorithm outer : {kFlat, kBinomial, kChain, kRabenseifner}) {
      expect_plan(two(), Collective::kReduce, leaders, {outer, inner}, 0);
      expect_plan(three(), Collective::kReduce, leaders, {outer, inner, inner}, 0);
    }
    for (const Algorithm outer : {kBinomial, kRecursiveDoubling, kRabenseifner, kRing}) {
      expect_plan(two(), Collective::kAllreduce, leaders, {outer, inner}, 0);
      expect_plan(three(), Collective::kAllreduce, leaders, {outer, inner, inner}, 0);
    }
  }
  for (const Algorithm inner : {kFlat, kBinomial}) {
    for (const Algorithm outer : {kFlat, kBinomial}) {
      expect_plan(three(), Collective::kBarrier, leaders, {outer, inner, inner}, 0);
      expect_plan(three(), Collective::kGather, leaders, {outer, inner, inner}, 0);
      expect_plan(three(), Collective::kScatter, leaders, {outer, inner, inner}, 0);
    }
    expect_plan(three(), Collective::kBarrier, leaders, {kDissemination, inner, inner}, 0);
    for (const Algorithm outer : {kFlat, kRing, kRecursiveDoubling}) {
      expect_plan(two(), Collective::kAllgather, leaders, {outer, inner}, 0);
      expect_plan(three(), Collective::kAllgather, leaders, {outer, inner, inner}, 0);
    }
    // A leader that is done scatters while others still exchange, so members wait a little less.
    for (const Algorithm outer : {kPairwise, kRing}) {
      expect_plan(two(), Collective::kReduceScatter, leaders, {outer, inner}, 0, 1e-3);
      expect_plan(three(), Collective::kReduceScatter, leaders, {outer, inner, inner}, 0, 1e-3);
    }
  }
}

TEST(ClosedForms, AreThoseOfLanes) {
  using enum Algorithm;
  const auto lanes = schedule::Form::kLanes;
  for (const Algorithm outer : {kBinomial, kChain, kScatterRing, kScatterDoubling}) {
    expect_plan(two(), Collective::kBroadcast, lanes, {outer, kRing}, 0);
    expect_plan(three(), Collective::kBroadcast, lanes, {outer, kRing, kRing}, 0);
  }
  for (const Algorithm outer : {kBinomial, kRabenseifner}) {
    expect_plan(two(), Collective::kReduce, lanes, {outer, kRing}, 0);
    expect_plan(three(), Collective::kReduce, lanes, {outer, kRing, kRing}, 0);
  }
  for (const Algorithm outer : {kRing, kRabenseifner, kRecursiveDoubling}) {
    expect_plan(two(), Collective::kAllreduce, lanes, {outer, kRing}, 0);
    expect_plan(three(), Collective::kAllreduce, lanes, {outer, kRing, kRing}, 0);
  }
}

TEST(ClosedForms, AreThoseOfAlltoall) {
  using enum Algorithm;
  for (const Algorithm outer : {kFlat, kBruck}) {
    for (const Algorithm inner : {kFlat, kBruck}) {
      expect_plan(two(), Collective::kAlltoall, schedule::Form::kLanes, {outer, inner}, 0);
      expect_plan(three(), Collective::kAlltoall, schedule::Form::kLanes, {outer, inner, inner}, 0);
    }
    for (const Algorithm inner : {kFlat, kBinomial}) {
      expect_plan(two(), Collective::kAlltoall, schedule::Form::kLeaders, {outer, inner}, 0);
      expect_plan(three(), Collective::kAlltoall, schedule::Form::kLeaders, {outer, inner, inner}, 0);
    }
  }
}

// A block is sent once for each bit that is set in its distance.
TEST(ClosedForms, OfAlltoallByBitsHoldForAnyNumberOfRanks) {
  std::int64_t blocks = 0;
  for (Rank ranks = 1; ranks <= 70; ++ranks) {
    EXPECT_EQ(blocks_by_bits(ranks), blocks) << ranks;
    blocks += std::popcount(static_cast<std::uint32_t>(ranks));
  }
  EXPECT_EQ(blocks_by_bits(1 << 30), std::int64_t{15} << 30);
  const Parameters parameters = usual_parameters(1);
  for (const Rank ranks : {2, 3, 12, 15, 21, 33}) {
    const Hierarchy hierarchy = Hierarchy::flat(ranks);
    const Machine machine(hierarchy, parameters);
    const Question question{.collective = Collective::kAlltoall, .bytes = 65536};
    const Choice choice{.variant = Variant::kMessages, .composition = {.algorithms = {Algorithm::kBruck}}, .groups = 1};
    EXPECT_NEAR(form_of(question, choice, machine)->seconds(65536) / evaluated(question, choice, machine), 1, 1e-9)
        << ranks;
  }
}

TEST(ClosedForms, AreThoseOfSameIndex) {
  using enum Algorithm;
  for (const Algorithm each : {kRing, kRabenseifner, kRecursiveDoubling, kLinear}) {
    expect_plan(two(), Collective::kAllreduce, schedule::Form::kSameIndex, {each, each}, 0);
    expect_plan(three(), Collective::kAllreduce, schedule::Form::kSameIndex, {each, each, each}, 0);
  }
}

// Segments across levels: what one port of the busiest rank does for each (docs/explanation/models.md).
TEST(ClosedForms, AreThoseOfSegmentsAcrossLevels) {
  using enum Algorithm;
  const auto leaders = schedule::Form::kLeaders;
  for (const std::int64_t segments : {2, 8, 32}) {
    for (const Algorithm outer : {kChain, kBinomial, kFlat}) {
      for (const Algorithm inner : {kChain, kBinomial, kFlat}) {
        expect_plan(two(), Collective::kBroadcast, leaders, {outer, inner}, kBytes / segments, 0.05);
      }
    }
  }
}

// The ranks of a node share its wire.
Parameters nodes_and_cores() {
  return {
      .levels = {{.name = "node", .latency = 10, .per_byte = 2e-3}, {.name = "core", .latency = 1, .per_byte = 5e-4}},
      .reduce_per_byte = kReduce};
}

// Base trees over 4 nodes of 8 ranks: three edges of a chain cross, two rounds of a binomial tree.
TEST(ClosedForms, AreThoseOfBaseTreesOverNodesInOrder) {
  const Hierarchy hierarchy = Hierarchy::from_colours(two().colours);
  const Parameters parameters = nodes_and_cores();
  const Machine machine(hierarchy, parameters);
  for (const Collective collective : {Collective::kBroadcast, Collective::kReduce}) {
    const Question question{.collective = collective, .bytes = kBytes};
    for (const std::string& text : {std::string("messages:chain:groups=1"), std::string("messages:binomial:groups=1"),
                                    std::string("messages:pipeline:segment=4K:groups=1")}) {
      const Choice choice = choice_from_text(text, collective);
      const auto form = form_of(question, choice, machine);
      ASSERT_TRUE(form.has_value());
      const double found = evaluated(question, choice, machine);
      EXPECT_NEAR(form->seconds(kBytes, static_cast<double>(choice.composition.segment)) / found, 1, 1e-9)
          << collective_name(collective) << " " << text;
    }
  }
}

// A root with one port: 7 of its messages stay on its node of 8 ranks, 24 leave it, in rank order or not. Its node's
// wire carries no others.
TEST(ClosedForms, AreThoseOfRootsOverNodes) {
  std::vector<Rank> in_turn(32);
  for (Rank rank = 0; rank < 32; ++rank) in_turn[static_cast<std::size_t>(rank)] = rank % 4;
  const Parameters parameters = nodes_and_cores();
  for (const Hierarchy& hierarchy : {Hierarchy::from_colours(two().colours), Hierarchy::from_colours({&in_turn, 1})}) {
    const Machine machine(hierarchy, parameters);
    for (const Collective collective : {Collective::kBroadcast, Collective::kReduce, Collective::kGather,
                                        Collective::kScatter, Collective::kBarrier}) {
      const std::int64_t bytes = collective == Collective::kBarrier ? 0 : kBytes;
      const Question question{.collective = collective, .bytes = bytes};
      const Choice choice = choice_from_text("messages:flat:groups=1", collective);
      const double found = evaluated(question, choice, machine);
      const double form = form_of(question, choice, machine)->seconds(static_cast<double>(bytes));
      EXPECT_NEAR(form / found, 1, 1e-9) << collective_name(collective);
    }
  }
}

// A node with a full part and others with few: 16 of 17 ranks on one node are no 32.
TEST(Machine, CountsTheFullestNodeOfUnevenParts) {
  const std::vector<std::vector<Rank>> colours = {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1},
                                                  {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2}};
  const Hierarchy hierarchy = Hierarchy::from_colours(colours);
  const Parameters parameters = usual_parameters(3, 1);
  const Machine machine(hierarchy, parameters);
  EXPECT_EQ(machine.nodes(), 2);
  EXPECT_EQ(machine.ranks_of_node(), 16);
  const Question question{.collective = Collective::kBroadcast, .bytes = 0};
  const Choice choice = choice_from_text("messages:flat:groups=1", Collective::kBroadcast);
  const double inside = parameters.levels[2].latency;
  const double across = parameters.levels[0].latency;
  EXPECT_NEAR(form_of(question, choice, machine)->seconds(0), 15 * inside + 2 * across, 1e-12);

  const std::vector<std::vector<Rank>> small_first = {{0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}};
  const Hierarchy reversed = Hierarchy::from_colours(small_first);
  const Parameters two_levels = usual_parameters(2, 1);
  const Machine other(reversed, two_levels);
  EXPECT_EQ(other.ranks_of_root(), 2);
  const Question long_one{.collective = Collective::kBroadcast, .bytes = kBytes};
  EXPECT_NEAR(form_of(long_one, choice, other)->seconds(kBytes) / evaluated(long_one, choice, other), 1, 1e-9);
}

// Runs of ranks inside nodes pay for the links there; leaders of one node share its wire where they send at once.
TEST(ClosedForms, OfGroupsFollowTheNodes) {
  const Parameters parameters = nodes_and_cores();
  const Hierarchy hierarchy = Hierarchy::from_colours(two().colours);  // 4 nodes of 8
  const Machine machine(hierarchy, parameters);
  const auto ratio = [&](Collective collective, const std::string& text) {
    const Question question{.collective = collective, .bytes = kBytes};
    const Choice choice = choice_from_text(text, collective);
    return form_of(question, choice, machine)->seconds(kBytes) / evaluated(question, choice, machine);
  };
  for (const std::string& algorithm : {std::string("chain"), std::string("binomial"), std::string("flat")}) {
    EXPECT_NEAR(ratio(Collective::kBroadcast, "messages:" + algorithm + ":groups=4"), 1, 1e-9) << algorithm;
    EXPECT_NEAR(ratio(Collective::kReduce, "messages:" + algorithm + ":groups=4"), 1, 1e-9) << algorithm;
  }
  // One of nine runs crosses from a node to the next.
  EXPECT_GE(ratio(Collective::kBroadcast, "messages:chain:groups=9"), 1);
  // Eight ranks of a node in lanes: without the shared wire the form was an eighth of this.
  EXPECT_NEAR(ratio(Collective::kAllreduce, "messages:ring:form=lanes:groups=4"), 1, 0.3);
}

// Exchanges over nodes in order: only the last of them cross, and all ranks of a node share its wire then. Where the
// ranks of a node go on at different times, the form is an upper bound.
TEST(ClosedForms, AreNextToThoseOfExchangesOverNodesInOrder) {
  const Parameters parameters{.levels = {{.name = "switch", .latency = 20, .per_byte = 2e-3},
                                         {.name = "node", .latency = 10, .per_byte = 2e-3},
                                         {.name = "core", .latency = 1, .per_byte = 5e-4}},
                              .reduce_per_byte = kReduce};
  const Hierarchy hierarchy = Hierarchy::from_colours(three().colours);
  const Machine machine(hierarchy, parameters);
  const auto expect = [&](Collective collective, const std::string& text, double most) {
    const Question question{.collective = collective, .bytes = kBytes};
    const Choice choice = choice_from_text(text, collective);
    const double ratio = form_of(question, choice, machine)->seconds(kBytes) / evaluated(question, choice, machine);
    EXPECT_GE(ratio, 1) << collective_name(collective) << " " << text;
    EXPECT_LE(ratio, most) << collective_name(collective) << " " << text;
  };
  expect(Collective::kAllreduce, "messages:recursive-doubling:groups=1", 1.03);
  expect(Collective::kAllgather, "messages:recursive-doubling:groups=1", 1.001);
  expect(Collective::kAllreduce, "messages:rabenseifner:groups=1", 1.25);
}

}  // namespace
}  // namespace ranktree::core::predict
