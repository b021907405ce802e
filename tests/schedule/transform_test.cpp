// The hierarchical transformation, proved like the base schedules, and the data it moves between groups.
#include "core/schedule/transform.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "cases.h"
#include "core/base/error.h"
#include "core/base/random.h"
#include "core/schedule/hierarchy.h"
#include "core/schedule/links.h"
#include "core/schedule/makers.h"
#include "core/schedule/schedule.h"
#include "helpers/sanitized.h"
#include "prove.h"

namespace ranktree::core::schedule {
namespace {

using Colours = std::vector<std::vector<std::int32_t>>;

// The algorithms a composition may name: the collective's, and trees for inner levels.
std::vector<Algorithm> algorithms_in_plans(Collective collective) {
  std::vector<Algorithm> algorithms(algorithms_of(collective).begin(), algorithms_of(collective).end());
  for (const Algorithm tree : {Algorithm::kFlat, Algorithm::kChain, Algorithm::kInOrderBinary, Algorithm::kPairwise}) {
    algorithms.push_back(tree);
  }
  return algorithms;
}

Composition random_composition(Random& random, Collective collective, const Hierarchy& hierarchy) {
  const auto forms = forms_of(collective);
  const std::vector<Algorithm> algorithms = algorithms_in_plans(collective);
  const std::array counts{1, hierarchy.levels(), hierarchy.given_levels()};
  const int levels = counts.at(static_cast<std::size_t>(random.below(counts.size())));
  Composition composition{.form = forms[random.below(forms.size())],
                          .algorithms = {},
                          .segment = static_cast<std::int64_t>(random.below(6))};
  for (int level = 0; level < levels; ++level) {
    composition.algorithms.push_back(algorithms[random.below(algorithms.size())]);
  }
  return composition;
}

std::string describe(const Composition& composition) {
  std::string text(form_name(composition.form));
  for (const Algorithm algorithm : composition.algorithms) text += " " + std::string(algorithm_name(algorithm));
  return text + " segment " + std::to_string(composition.segment);
}

Request random_request(Random& random, Collective collective, Rank ranks, Rank root) {
  Request request{.collective = collective,
                  .ranks = ranks,
                  .root = has_root(collective) ? root : 0,
                  .count = static_cast<std::int64_t>(random.below(2 * static_cast<std::uint64_t>(ranks) + 2)),
                  .counts = {},
                  .displacements = {},
                  .commutative = true};
  if (collective == Collective::kAlltoall) request.count %= 4;
  if (!takes_lists(collective)) return request;
  request.count = static_cast<std::int64_t>(random.below(4));
  if (random.below(2) == 0) return request;
  std::int64_t next = 0;
  const bool gaps = collective != Collective::kReduceScatter && random.below(2) == 0;
  for (Rank rank = 0; rank < ranks; ++rank) {
    request.counts.push_back(static_cast<std::int64_t>(random.below(4)));
    if (gaps) request.displacements.push_back(next + static_cast<std::int64_t>(random.below(3)));
    if (gaps) next = request.displacements.back() + request.counts.back();
  }
  return request;
}

void expect_proved(Random& random, Collective collective, const Hierarchy& hierarchy, Rank root) {
  Request request = random_request(random, collective, hierarchy.ranks(), root);
  Composition composition = random_composition(random, collective, hierarchy);
  const std::vector<std::int32_t> nodes = random_nodes(random, hierarchy.ranks());
  const Links links{.node_of = nodes, .least = 1 + static_cast<std::int64_t>(random.below(3))};
  const bool in_turn = random.below(2) == 0;
  if (in_turn) composition.segment = 0;
  request.commutative = !keeps_rank_order(collective, hierarchy, composition) || random.below(4) == 0;
  const std::vector<bool> in_place = random.below(3) == 0 ? in_place_of(request) : std::vector<bool>{};
  const std::uint64_t seed = random.below(3);
  const auto maker = [&](const Request& own, Rank rank) {
    return transform(own, hierarchy, composition, rank, in_turn ? &links : nullptr);
  };
  const std::string flaw = flaw_of(request, maker, seed, in_place);
  ASSERT_EQ(flaw, "") << describe(request) << " by " << describe(composition) << " levels " << hierarchy.levels()
                      << " seed " << seed << (in_turn ? " in turn" : "") << (in_place.empty() ? "" : " in place");
}

class EveryTransformation : public testing::TestWithParam<Collective> {};

// Every root, too; where there is none, a few sizes and compositions.
TEST_P(EveryTransformation, HoldsForAnyNumberOfGroups) {
  constexpr Rank kTimes = 4;
  Random random(3);
  for (Rank ranks = 1; ranks <= kMostRanks; ++ranks) {
    const Rank roots = has_root(GetParam()) ? ranks : kTimes;
    for (Rank groups = 1; groups <= ranks; ++groups) {
      const Hierarchy hierarchy = Hierarchy::grouped(ranks, groups);
      for (Rank root = 0; root < roots; ++root) {
        expect_proved(random, GetParam(), hierarchy, root);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST_P(EveryTransformation, HoldsForAnyTreeOfSplits) {
  Random random(9);
  for (int repeat = 0; repeat < (ranktree::test::kSanitized ? 200 : 900); ++repeat) {
    const auto ranks = static_cast<std::size_t>(1 + random.below(33));
    Colours colours(1 + random.below(3), std::vector<std::int32_t>(ranks));
    const bool in_rank_order = random.below(2) == 0;
    for (auto& level : colours) {
      const std::uint64_t most = 1 + random.below(6);
      std::int32_t colour = 0;
      for (std::size_t rank = 0; rank < ranks; ++rank) {
        colour = in_rank_order ? colour + (random.below(most + 1) == 0 ? 1 : 0)
                               : static_cast<std::int32_t>(random.below(most));
        level[rank] = colour;
      }
    }
    expect_proved(random, GetParam(), Hierarchy::from_colours(colours), static_cast<Rank>(random.below(ranks)));
    if (HasFatalFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Schedule, EveryTransformation,
                         testing::Values(Collective::kBroadcast, Collective::kReduce, Collective::kAllreduce,
                                         Collective::kBarrier, Collective::kGather, Collective::kScatter,
                                         Collective::kAllgather, Collective::kReduceScatter, Collective::kAlltoall),
                         [](const testing::TestParamInfo<Collective>& test) {
                           return std::string(collective_name(test.param));
                         });

TEST(Transform, OfOneGroupOrOneRankAGroupIsTheBaseAlgorithm) {
  for (const Collective collective : kEveryCollective) {
    for (const Form form : forms_of(collective)) {
      for (const Algorithm algorithm : algorithms_of(collective)) {
        const Composition composition{.form = form, .algorithms = {algorithm}, .segment = 4};
        for (Rank ranks = 1; ranks <= kMostRanks; ++ranks) {
          const Rank root = has_root(collective) ? ranks / 3 : 0;
          const Request request{.collective = collective, .ranks = ranks, .root = root, .count = 29};
          const Schedule base = make_all(request, {algorithm, 4});
          for (const Rank groups : {1, ranks}) {
            EXPECT_EQ(transform_all(request, Hierarchy::grouped(ranks, groups), composition), base)
                << describe(request) << " by " << describe(composition);
          }
        }
      }
    }
  }
}

// --- what is moved between groups

struct Crossing {
  std::int64_t messages = 0;
  std::int64_t elements = 0;
};

Crossing crossing(const Schedule& schedule, const std::vector<std::int32_t>& group) {
  Crossing sum;
  for (const Traffic& pair : traffic_of(schedule)) {
    if (group[static_cast<std::size_t>(pair.from)] == group[static_cast<std::size_t>(pair.to)]) continue;
    sum.messages += pair.messages;
    sum.elements += pair.elements;
  }
  return sum;
}

std::int64_t between_groups(const Schedule& schedule, const std::vector<std::int32_t>& group) {
  return crossing(schedule, group).elements;
}

// 4 x 4 ranks, or 4, 4, 4, 3; one node after the other, or round robin.
struct Cluster {
  const char* name;
  std::vector<std::int32_t> node;
};

std::vector<Cluster> clusters() {
  return {{"packed 4x4", {0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3}},
          {"round robin 4x4", {0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3}},
          {"packed 4,4,4,3", {0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3}},
          {"round robin 4,4,4,3", {0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2}}};
}

std::int64_t moved(const Cluster& cluster, const Request& request, Form form, Algorithm algorithm) {
  const Colours colours{cluster.node};
  const Hierarchy hierarchy = Hierarchy::from_colours(colours);
  return between_groups(transform_all(request, hierarchy, {.form = form, .algorithms = {algorithm}, .segment = 500}),
                        cluster.node);
}

// Every node but one must receive, or send, the whole vector: 3 m; allreduce does both with all but one part: 2 x 3 m.
TEST(BytesBetweenNodes, AreTheLeastPossible) {
  constexpr std::int64_t kCount = 9600;
  for (const Cluster& cluster : clusters()) {
    const auto ranks = static_cast<Rank>(cluster.node.size());
    const auto request = [&](Collective collective, Rank root, std::int64_t count) {
      return Request{.collective = collective, .ranks = ranks, .root = root, .count = count};
    };
    for (const Rank root : {0, 6, 14}) {
      const Request broadcast = request(Collective::kBroadcast, root, kCount);
      const Request reduce = request(Collective::kReduce, root, kCount);
      for (const Form form : {Form::kLeaders, Form::kLanes}) {
        EXPECT_EQ(moved(cluster, broadcast, form, Algorithm::kChain), 3 * kCount) << cluster.name;
        EXPECT_EQ(moved(cluster, reduce, form, Algorithm::kBinomial), 3 * kCount) << cluster.name;
      }
    }
    const Request sum = request(Collective::kAllreduce, 0, kCount);
    EXPECT_EQ(moved(cluster, sum, Form::kLanes, Algorithm::kRing), 6 * kCount) << cluster.name;
    EXPECT_EQ(moved(cluster, sum, Form::kLanes, Algorithm::kPairwise), 6 * kCount) << cluster.name;
    EXPECT_EQ(moved(cluster, sum, Form::kLanes, Algorithm::kRabenseifner), 6 * kCount) << cluster.name;
    EXPECT_EQ(moved(cluster, sum, Form::kLeaders, Algorithm::kRing), 6 * kCount) << cluster.name;
    EXPECT_EQ(moved(cluster, request(Collective::kAllgather, 0, 100), Form::kLeaders, Algorithm::kRing),
              3 * ranks * 100)
        << cluster.name;
    EXPECT_EQ(moved(cluster, request(Collective::kReduceScatter, 0, 100), Form::kLeaders, Algorithm::kRing),
              3 * ranks * 100)
        << cluster.name;
  }
}

// Nodes of 5, 3 and 1 ranks: 2 m, where the flat ring, one node after the other, moves 3 x 8/9 m.
TEST(BytesBetweenNodes, AreTheLeastPossibleOfAReduceScatterOnUnevenNodes) {
  constexpr std::int64_t kBlock = 100;
  const Cluster packed{"5, 3, 1", {0, 0, 0, 0, 0, 1, 1, 1, 2}};
  const Cluster mixed{"5, 3, 1 mixed", {0, 1, 2, 0, 1, 0, 1, 0, 0}};
  const Request request{.collective = Collective::kReduceScatter, .ranks = 9, .count = kBlock};
  for (const Cluster& cluster : {packed, mixed}) {
    for (const Algorithm algorithm : {Algorithm::kRing, Algorithm::kPairwise}) {
      EXPECT_EQ(moved(cluster, request, Form::kLeaders, algorithm), 2 * 9 * kBlock) << cluster.name;
    }
  }
  EXPECT_EQ(between_groups(make_all(request, {Algorithm::kRing, 0}), packed.node), 3 * 8 * kBlock);
}

// The figures counted with Open MPI on this cluster were 25.55 m and 26.64 m, with headers.
TEST(BytesBetweenNodes, AreFourTimesAsManyInThePapersAllreduce) {
  const Request sum{.collective = Collective::kAllreduce, .ranks = 16, .count = 9600};
  const Cluster packed = clusters()[0];
  EXPECT_EQ(moved(packed, sum, Form::kSameIndex, Algorithm::kRing), 4 * 6 * 9600);
  EXPECT_EQ(between_groups(make_all(sum, {Algorithm::kRing, 0}), packed.node), 2 * 15 * 9600 / 16 * 4);
  EXPECT_EQ(between_groups(make_all(sum, {Algorithm::kRing, 0}), clusters()[1].node), 2 * 15 * 9600);
}

// Every block for another node crosses once: p^2 minus those that stay. Messages: one for each pair of ranks, for each
// rank and other node, or for each pair of nodes; Bruck's algorithm takes 2 rounds instead of 3, and some blocks cross
// twice.
TEST(Alltoall, CrossesBetweenNodesInFewMessagesAndOnce) {
  for (const Cluster& cluster : clusters()) {
    const auto ranks = static_cast<Rank>(cluster.node.size());
    const Hierarchy hierarchy = Hierarchy::from_colours(Colours{cluster.node});
    const Request request{.collective = Collective::kAlltoall, .ranks = ranks, .count = 10};
    const std::int64_t least = 10 * (ranks == 16 ? 256 - 4 * 16 : 225 - 3 * 16 - 9);
    const auto across = [&](Form form, Algorithm algorithm) {
      const Composition composition{.form = form, .algorithms = {algorithm, Algorithm::kFlat}};
      return crossing(transform_all(request, hierarchy, composition), cluster.node);
    };
    const Crossing direct = crossing(make_all(request, {Algorithm::kFlat, 0}), cluster.node);
    EXPECT_EQ(direct.elements, least) << cluster.name;
    EXPECT_EQ(direct.messages, least / 10) << cluster.name;
    EXPECT_EQ(across(Form::kLanes, Algorithm::kFlat).elements, least) << cluster.name;
    EXPECT_EQ(across(Form::kLeaders, Algorithm::kFlat).elements, least) << cluster.name;
    EXPECT_EQ(across(Form::kLeaders, Algorithm::kFlat).messages, 4 * 3) << cluster.name;
    EXPECT_EQ(across(Form::kLeaders, Algorithm::kBruck).messages, 4 * 2) << cluster.name;
    if (ranks < 16) {  // to and from the node of 3: one message per rank there, or per rank that sends there
      EXPECT_EQ(across(Form::kLanes, Algorithm::kFlat).messages, 3 * 2 * 4 + 3 * 3 + 3 * 4) << cluster.name;
      continue;
    }
    EXPECT_EQ(across(Form::kLanes, Algorithm::kFlat).messages, 16 * 3) << cluster.name;
    EXPECT_EQ(across(Form::kLanes, Algorithm::kBruck).messages, 16 * 2) << cluster.name;
    EXPECT_EQ(across(Form::kLanes, Algorithm::kBruck).elements, 10 * 256) << cluster.name;
  }
}

// Scatter and two-level ring allgather: (G-1) m in the ring across, and a binomial scatter that moves m/2 a round.
TEST(BytesBetweenNodes, OfAScatterAndTwoLevelRingAllgather) {
  const Request broadcast{.collective = Collective::kBroadcast, .ranks = 16, .root = 3, .count = 9600};
  const Cluster packed = clusters()[0];
  const Hierarchy hierarchy = Hierarchy::from_colours(Colours{packed.node});
  const Schedule schedule =
      transform_all(broadcast, hierarchy, {.form = Form::kLanes, .algorithms = {Algorithm::kScatterRing}});
  EXPECT_EQ(between_groups(schedule, packed.node), (3 + 1) * 9600);
}

TEST(Transform, OfSegmentsLongerThanTheMessageIsThatOfTheWhole) {
  const Request request{.ranks = 6, .count = 100};
  const Hierarchy two = Hierarchy::grouped(6, 2);
  const Composition whole{.algorithms = {Algorithm::kBinomial, Algorithm::kChain}};
  Composition longest = whole;
  longest.segment = std::numeric_limits<std::int64_t>::max();
  for (Rank rank = 0; rank < 6; ++rank) {
    EXPECT_EQ(transform(request, two, longest, rank).steps.size(), transform(request, two, whole, rank).steps.size());
  }
  EXPECT_FALSE(transform(request, two, longest, 0).steps.empty());
}

TEST(Transform, NamesTheInvalidFieldOfAPlan) {
  const auto refusal = [](const Request& request, const Hierarchy& hierarchy,
                          const Composition& composition) -> std::string {
    try {
      transform(request, hierarchy, composition, 0);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  const Hierarchy two = Hierarchy::grouped(6, 2);
  EXPECT_EQ(refusal({.ranks = 5}, two, {.algorithms = {Algorithm::kFlat}}),
            "schedule: hierarchy: expected 5 ranks, found 6");
  EXPECT_EQ(refusal({.ranks = 6}, two, {.algorithms = {}}), "schedule: algorithms: expected 1 or 2, found 0");
  EXPECT_EQ(refusal({.ranks = 6}, two, {.form = Form::kSameIndex, .algorithms = {Algorithm::kFlat}}),
            "schedule: broadcast: there is no form same-index");
  const Request ordered{.collective = Collective::kReduce, .ranks = 6, .commutative = false};
  EXPECT_EQ(refusal(ordered, two, {.algorithms = {Algorithm::kBinary}}),
            "schedule: reduce by leaders: expected a commutative operation, found another");
  const Colours round_robin{{0, 1, 0, 1, 0, 1}};
  EXPECT_EQ(refusal(ordered, Hierarchy::from_colours(round_robin), {.algorithms = {Algorithm::kBinomial}}),
            "schedule: reduce by leaders: expected a commutative operation, found another");
}

TEST(Hierarchies, LeaveOutLevelsOnWhichNothingBranches) {
  const Colours colours{{0, 0, 0, 0}, {0, 0, 1, 1}, {0, 1, 2, 3}};
  const Hierarchy hierarchy = Hierarchy::from_colours(colours);
  EXPECT_EQ(hierarchy.given_levels(), 4);
  ASSERT_EQ(hierarchy.levels(), 2);
  EXPECT_EQ(hierarchy.given_level(0), 1);
  EXPECT_EQ(hierarchy.given_level(1), 2);
  EXPECT_TRUE(hierarchy.in_rank_order());
}

TEST(Hierarchies, NumberGroupsByTheirLowestRanks) {
  const Colours colours{{7, 2, 7, 2, 5}};
  const Hierarchy hierarchy = Hierarchy::from_colours(colours);
  ASSERT_EQ(hierarchy.levels(), 2);
  EXPECT_EQ(hierarchy.children(0, 0), 3);
  EXPECT_EQ(hierarchy.width(1), 1);
  std::vector<Rank> order;
  for (int position = 0; position < 5; ++position) order.push_back(hierarchy.rank_at(position));
  EXPECT_EQ(order, (std::vector<Rank>{0, 2, 1, 3, 4}));
  EXPECT_FALSE(hierarchy.in_rank_order());
}

// While the leaders pass on segment s+1, the groups get segment s. With X segments, p ranks in G groups and chains on
// both levels, segments wait for a rank's distance from the root in steps, not for the number of levels.
TEST(Transform, LeadersSendASegmentAcrossBeforeTheOneBeforeInside) {
  const Request request{.collective = Collective::kBroadcast, .ranks = 4, .root = 0, .count = 3};
  const Program leader = transform(request, Hierarchy::grouped(4, 2),
                                   {.form = Form::kLeaders, .algorithms = {Algorithm::kChain}, .segment = 1}, 0);
  std::vector<std::pair<Rank, std::int64_t>> sends;
  for (const Step& step : leader.steps) sends.emplace_back(step.peer, step.from.first);
  const std::vector<std::pair<Rank, std::int64_t>> wanted{{2, 0}, {2, 1}, {1, 0}, {2, 2}, {1, 1}, {1, 2}};
  EXPECT_EQ(sends, wanted);
}

}  // namespace
}  // namespace ranktree::core::schedule
