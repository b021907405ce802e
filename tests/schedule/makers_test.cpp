// Every base schedule carried out on symbols: the right elements everywhere, every operand once, in rank order where
// that is required, no unmatched message, no rank that waits forever.
#include "core/schedule/makers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "cases.h"
#include "core/base/error.h"
#include "core/base/random.h"
#include "core/schedule/links.h"
#include "core/schedule/schedule.h"

namespace ranktree::core::schedule {
namespace {

struct Case {
  Collective collective;
  Algorithm algorithm;
};

std::vector<Case> every_maker() {
  std::vector<Case> cases;
  for (const Collective collective : kEveryCollective) {
    for (const Algorithm algorithm : algorithms_of(collective)) cases.push_back({collective, algorithm});
  }
  return cases;
}

std::string name_of(const testing::TestParamInfo<Case>& test) {
  std::string name =
      std::string(collective_name(test.param.collective)) + "_" + std::string(algorithm_name(test.param.algorithm));
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

void expect_proved(const Request& request, const Method& method, std::uint64_t seed,
                   const std::vector<bool>& in_place = {}, const Links* links = nullptr) {
  const auto maker = [&](const Request& own, Rank rank) { return make(own, method, rank, links); };
  const std::string flaw = flaw_of(request, maker, seed, in_place);
  ASSERT_EQ(flaw, "") << describe(request) << " by " << algorithm_name(method.algorithm) << " segment "
                      << method.segment << " seed " << seed << (in_place.empty() ? "" : " in place");
}

class EveryMaker : public testing::TestWithParam<Case> {
 protected:
  // Non-commutative wherever the algorithm can.
  static Request request_of(Rank ranks, Rank root, std::int64_t count) {
    const auto [collective, algorithm] = GetParam();
    return {.collective = collective,
            .ranks = ranks,
            .root = root,
            .count = count,
            .counts = {},
            .displacements = {},
            .commutative = !keeps_rank_order(collective, algorithm)};
  }
  static Rank roots(Rank ranks) { return has_root(GetParam().collective) ? ranks : 1; }
};

TEST_P(EveryMaker, ComputesTheCollectivesResult) {
  Random random(11);
  for (Rank ranks = 1; ranks <= kMostRanks; ++ranks) {
    for (Rank root = 0; root < roots(ranks); ++root) {
      for (const std::int64_t count : {std::int64_t{0}, std::int64_t{1}, std::int64_t{ranks} + 3}) {
        Request request = request_of(ranks, root, count);
        request.commutative = request.commutative || random.below(3) == 0;
        const auto segment = static_cast<std::int64_t>(random.below(5));
        expect_proved(request, {GetParam().algorithm, segment}, random.below(3));
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST_P(EveryMaker, WorksInPlace) {
  Random random(5);
  for (Rank ranks = 1; ranks <= 17; ++ranks) {
    for (Rank root = 0; root < roots(ranks); ++root) {
      Request request = request_of(ranks, root, 1 + static_cast<std::int64_t>(random.below(40)));
      request.commutative = request.commutative || random.below(2) == 0;
      const Method method{GetParam().algorithm, static_cast<std::int64_t>(random.below(9))};
      expect_proved(request, method, random.below(3), in_place_of(request));
      if (HasFatalFailure()) return;
    }
  }
}

TEST_P(EveryMaker, CompletesWithMessagesInTurnOnAnyNodes) {
  Random random(13);
  for (Rank ranks = 1; ranks <= kMostRanks; ++ranks) {
    for (Rank root = 0; root < roots(ranks); ++root) {
      const Request request = request_of(ranks, root, 1 + static_cast<std::int64_t>(random.below(40)));
      const std::vector<std::int32_t> nodes = random_nodes(random, ranks);
      const Links links{.node_of = random.below(4) == 0 ? std::span<const std::int32_t>() : nodes, .least = 1};
      expect_proved(request, {GetParam().algorithm, 0}, random.below(3), {}, &links);
      if (HasFatalFailure()) return;
    }
  }
}

TEST_P(EveryMaker, TakesBlocksOfAnySizeAnywhere) {
  if (!takes_lists(GetParam().collective)) return;
  Random random(7);
  for (Rank ranks = 1; ranks <= 17; ++ranks) {
    for (Rank root = 0; root < roots(ranks); ++root) {
      Request request = request_of(ranks, root, 0);
      const bool gaps = GetParam().collective != Collective::kReduceScatter && random.below(2) == 0;
      std::int64_t next = 0;
      for (Rank rank = 0; rank < ranks; ++rank) {
        request.counts.push_back(static_cast<std::int64_t>(random.below(4)));
        if (gaps) request.displacements.push_back(next + static_cast<std::int64_t>(random.below(3)));
        if (gaps) next = request.displacements.back() + request.counts.back();
      }
      const std::vector<bool> in_place = random.below(2) == 0 ? in_place_of(request) : std::vector<bool>{};
      expect_proved(request, {GetParam().algorithm, 0}, random.below(3), in_place);
      if (HasFatalFailure()) return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Schedule, EveryMaker, testing::ValuesIn(every_maker()), name_of);

std::string refusal(const Request& request, const Method& method, Rank rank) {
  try {
    make(request, method, rank);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Makers, NameTheInvalidFieldOfARequest) {
  const Method binomial{Algorithm::kBinomial, 0};
  EXPECT_EQ(refusal({.ranks = 0}, binomial, 0), "schedule: ranks: expected at least 1, found 0");
  EXPECT_EQ(refusal({.ranks = 4, .root = 4}, binomial, 0), "schedule: root: expected 0 to 3, found 4");
  EXPECT_EQ(refusal({.ranks = 4}, binomial, -1), "schedule: rank: expected 0 to 3, found -1");
  EXPECT_EQ(refusal({.ranks = 4, .count = -1}, binomial, 0),
            "schedule: count: expected 0 to 2^48 elements over all ranks, found -1");
  EXPECT_EQ(refusal({.ranks = 2, .counts = {1, 1}}, binomial, 0),
            "schedule: counts: expected none for this collective, found 2");
  EXPECT_EQ(refusal({.collective = Collective::kGather, .ranks = 2, .counts = {1}}, binomial, 0),
            "schedule: counts: expected 2 entries, found 1");
  EXPECT_EQ(refusal({.ranks = 2}, {Algorithm::kBinomial, -3}, 0),
            "schedule: segment: expected 0 or more elements, found -3");
  EXPECT_EQ(refusal({.ranks = 2}, {Algorithm::kBruck, 0}, 0),
            "schedule: broadcast by bruck: there is no such algorithm");
  EXPECT_EQ(refusal({.collective = Collective::kAllreduce, .ranks = 2, .commutative = false}, {Algorithm::kRing, 0}, 0),
            "schedule: allreduce by ring: expected a commutative operation, found another");
}

TEST(Makers, ReadOnlyTheCountsThatTheRankKnows) {
  // MPI_Gatherv: the other counts are not significant away from the root.
  const Request request{.collective = Collective::kGather, .ranks = 3, .root = 0, .counts = {-7, 5, -9}};
  const Program program = make(request, {Algorithm::kFlat, 0}, 1);
  ASSERT_EQ(program.steps.size(), 1U);
  EXPECT_EQ(program.steps[0].action, Action::kSend);
  EXPECT_EQ(program.steps[0].from, (Range{Buffer::kInput, 0, 5}));
}

TEST(Makers, NamesAreTheirOwnInverse) {
  for (const Case& each : every_maker()) {
    EXPECT_EQ(algorithm_from_name(algorithm_name(each.algorithm)), each.algorithm);
    EXPECT_EQ(collective_from_name(collective_name(each.collective)), each.collective);
  }
  EXPECT_FALSE(algorithm_from_name("fastest").has_value());
}

TEST(Makers, MakeOneRankOfManyInAnInstant) {
  // 16,384 ranks: no rank's program depends on the others'.
  for (const Rank rank : {0, 1, 8191, 16383}) {
    const Request request{.collective = Collective::kBroadcast, .ranks = 16384, .root = 5, .count = 1 << 20};
    EXPECT_LE(make(request, {Algorithm::kBinomial, 0}, rank).steps.size(), 15U);
    const Request sum{.collective = Collective::kAllreduce, .ranks = 16384, .count = 1 << 20};
    EXPECT_LE(make(sum, {Algorithm::kRabenseifner, 0}, rank).steps.size(), 14U * 6);
    EXPECT_LE(make(sum, {Algorithm::kRing, 0}, rank).steps.size(), 16383U * 5);
  }
}

}  // namespace
}  // namespace ranktree::core::schedule
