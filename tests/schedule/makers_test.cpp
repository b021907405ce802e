// Every base schedule carried out on symbols: the right elements everywhere, every operand once, in rank order where
// that is asked for, no message without its other end, no rank that waits for ever.
#include "core/schedule/makers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "core/base/error.h"
#include "core/base/random.h"
#include "core/schedule/schedule.h"
#include "core/schedule/simulate.h"

namespace ranktree::core::schedule {
namespace {

constexpr Collective kAll[] = {Collective::kBroadcast, Collective::kReduce,        Collective::kAllreduce,
                               Collective::kBarrier,   Collective::kGather,        Collective::kScatter,
                               Collective::kAllgather, Collective::kReduceScatter, Collective::kAlltoall};

struct Case {
  Collective collective;
  Algorithm algorithm;
};

std::vector<Case> every_maker() {
  std::vector<Case> cases;
  for (const Collective collective : kAll) {
    for (const Algorithm algorithm : algorithms_of(collective)) cases.push_back({collective, algorithm});
  }
  return cases;
}

std::string describe(const Request& request, const Method& method) {
  return std::string(collective_name(request.collective)) + " " + std::string(algorithm_name(method.algorithm)) +
         " ranks " + std::to_string(request.ranks) + " root " + std::to_string(request.root) + " count " +
         std::to_string(request.count) + " segment " + std::to_string(method.segment) +
         (request.commutative ? "" : " in order");
}

bool is_rooted(Collective collective) {
  return collective == Collective::kBroadcast || collective == Collective::kReduce ||
         collective == Collective::kGather || collective == Collective::kScatter;
}

void prove_made(const Request& request, const Method& method, std::uint64_t seed,
                const std::vector<bool>& in_place = {}) {
  Schedule schedule;
  for (Rank rank = 0; rank < request.ranks; ++rank) {
    Request own = request;
    own.in_place = !in_place.empty() && in_place[static_cast<std::size_t>(rank)];
    schedule.push_back(make(own, method, rank));
  }
  try {
    prove(request, schedule, seed, in_place);
  } catch (const Error& error) {
    FAIL() << describe(request, method) << (in_place.empty() ? "" : " in place") << " seed " << seed << ": "
           << error.what();
  }
}

// All roots of small communicators, five of large ones.
std::vector<Rank> roots_of(Collective collective, Rank ranks) {
  if (!is_rooted(collective)) return {0};
  std::vector<Rank> roots;
  for (Rank root = 0; root < ranks; ++root) {
    if (ranks <= 9 || root < 2 || root == ranks / 2 || root + 2 >= ranks) roots.push_back(root);
  }
  return roots;
}

class EveryMaker : public testing::TestWithParam<Case> {};

TEST_P(EveryMaker, DoesWhatTheCollectiveMeans) {
  const auto [collective, algorithm] = GetParam();
  Random random(11);
  for (Rank ranks = 1; ranks <= 33; ++ranks) {
    for (const Rank root : roots_of(collective, ranks)) {
      for (const std::int64_t count : {std::int64_t{0}, std::int64_t{1}, std::int64_t{ranks} + 3, std::int64_t{2}}) {
        const bool commutative = !keeps_rank_order(collective, algorithm) || random.below(2) == 0;
        const Request request{.collective = collective,
                              .ranks = ranks,
                              .root = root,
                              .count = count,
                              .counts = {},
                              .displacements = {},
                              .commutative = commutative};
        const auto segment = static_cast<std::int64_t>(random.below(5));
        prove_made(request, {algorithm, segment}, random.below(3));
        if (HasFatalFailure()) return;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Schedule, EveryMaker, testing::ValuesIn(every_maker()),
                         [](const testing::TestParamInfo<Case>& test) {
                           std::string name = std::string(collective_name(test.param.collective)) + "_" +
                                              std::string(algorithm_name(test.param.algorithm));
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace ranktree::core::schedule
