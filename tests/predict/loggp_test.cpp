#include "core/predict/loggp.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/predict/closed_forms.h"
#include "core/predict/costs.h"
#include "core/predict/evaluate.h"
#include "core/predict/parameters.h"
#include "core/schedule/hierarchy.h"
#include "core/schedule/makers.h"
#include "core/schedule/schedule.h"
#include "core/schedule/transform.h"

namespace ranktree::core::predict {
namespace {

using schedule::Action;
using schedule::Algorithm;
using schedule::Buffer;
using schedule::Collective;
using schedule::Program;
using schedule::Range;
using schedule::Rank;
using schedule::Request;
using schedule::Schedule;
using schedule::Step;

constexpr LogGPLink kLong{.latency = 10, .overhead_send = 2, .overhead_receive = 3, .gap = 4, .per_byte = 0.1};
constexpr LogGPLink kShort{.latency = 10, .overhead_send = 2, .overhead_receive = 3, .gap = 40, .per_byte = 0.01};

LogGP uniform_loggp(const LogGPLink& link, double reduce = 0) {
  return {.link = [link](Rank, Rank) { return link; }, .reduce = reduce};
}

Schedule broadcast(Rank ranks, Algorithm algorithm, std::int64_t count, std::int64_t segment = 0) {
  return schedule::make_all({.collective = Collective::kBroadcast, .ranks = ranks, .count = count},
                            {algorithm, segment});
}

// One message each from the ranks 0 .. senders-1 to senders .. 2 senders - 1.
Schedule pairs(Rank senders, std::int64_t count) {
  Schedule schedule(static_cast<std::size_t>(2 * senders));
  for (Rank rank = 0; rank < senders; ++rank) {
    const Range data{Buffer::kOutput, 0, count};
    schedule[static_cast<std::size_t>(rank)] = {
        .rank = rank, .steps = {Step{.action = Action::kSend, .peer = rank + senders, .from = data}}};
    schedule[static_cast<std::size_t>(rank + senders)] = {
        .rank = rank + senders, .steps = {Step{.action = Action::kReceive, .peer = rank, .into = data}}};
  }
  return schedule;
}

TEST(LogGP, CountsAMessageByHand) {
  // 2 to send, leaves; the first byte after 10, the last after 10 more; 3 to receive.
  EXPECT_DOUBLE_EQ(evaluate(broadcast(2, Algorithm::kFlat, 100), uniform_loggp(kLong)), 25);
  // The second leaves when the port is free at 12: 12 + 10 + 10 + 3.
  EXPECT_DOUBLE_EQ(evaluate(broadcast(3, Algorithm::kFlat, 100), uniform_loggp(kLong)), 35);
  // A short one occupies the port for g: leaves at 42.
  EXPECT_DOUBLE_EQ(evaluate(broadcast(3, Algorithm::kFlat, 100), uniform_loggp(kShort)), 42 + 10 + 1 + 3);
}

// The closed form of flat, chain, pipeline and binomial broadcast, and barriers by dissemination on equal links;
// nothing for others. Segments are in elements, 0 for unsegmented.
std::optional<double> loggp_form(schedule::Collective collective, schedule::Method method, Rank ranks, double count,
                                 const LogGPLink& link) {
  if (ranks < 2) return 0;
  const auto segment = static_cast<double>(method.segment);
  const double segments = segment > 0 ? std::ceil(count / segment) : 1;
  const double each = count / segments;
  const double moving = each * link.per_byte;
  const double hop = link.overhead_send + moving + link.latency + link.overhead_receive;
  const double period = std::max({link.overhead_send, link.gap, moving});  // between sends of one rank
  if (collective == Collective::kBarrier && method.algorithm == Algorithm::kDissemination) {
    return (log2_above(ranks) - 1) * std::max(hop, link.gap) + hop;
  }
  if (collective != Collective::kBroadcast) return std::nullopt;
  switch (method.algorithm) {
    case Algorithm::kFlat:
      return segments > 1 ? std::nullopt : std::optional((ranks - 2) * period + hop);
    case Algorithm::kChain:
    case Algorithm::kPipeline:
      // A rank inside the pipeline both receives and sends each segment. Where that is more than its port can do,
      // receiving delays sending, and only evaluation gives the cost.
      if (segments > 1 && ranks > 2 && link.overhead_send + link.overhead_receive > period) return std::nullopt;
      return (ranks - 1) * hop + (segments - 1) * period;
    case Algorithm::kBinomial:
      return segments > 1 ? std::nullopt
                          : std::optional(std::max(log2_above(ranks) * hop, (log2_above(ranks) - 1) * period + hop));
    default:
      return std::nullopt;
  }
}

TEST(LogGP, IsTheFormOfSimpleAlgorithms) {
  for (const LogGPLink& link : {kLong, kShort}) {
    for (const Rank ranks : {2, 3, 8, 16}) {
      for (const Algorithm algorithm : {Algorithm::kFlat, Algorithm::kChain, Algorithm::kBinomial}) {
        if (algorithm == Algorithm::kBinomial && ranks == 3) continue;
        const auto form = loggp_form(Collective::kBroadcast, {algorithm, 0}, ranks, 100, link);
        EXPECT_NEAR(*form / evaluate(broadcast(ranks, algorithm, 100), uniform_loggp(link)), 1, 1e-9)
            << algorithm_name(algorithm) << ranks;
      }
      const auto pipeline = loggp_form(Collective::kBroadcast, {Algorithm::kPipeline, 10}, ranks, 100, link);
      const bool busy = link.gap == kLong.gap;  // o + o takes longer than g
      EXPECT_EQ(pipeline.has_value(), !busy || ranks == 2);
      if (!pipeline) continue;
      EXPECT_NEAR(*pipeline / evaluate(broadcast(ranks, Algorithm::kPipeline, 100, 10), uniform_loggp(link)), 1, 1e-9)
          << ranks;
    }
    const auto barrier =
        schedule::make_all({.collective = Collective::kBarrier, .ranks = 16}, {Algorithm::kDissemination, 0});
    EXPECT_NEAR(*loggp_form(Collective::kBarrier, {Algorithm::kDissemination, 0}, 16, 0, link) /
                    evaluate(barrier, uniform_loggp(link)),
                1, 1e-9);
  }
}

// A rank inside the chain forwards each segment before it receives the next, so segments follow each other every h = 2
// + 1 + 10 + 3 units; 10 segments.
TEST(LogGP, ForwardsSegmentsBeforeItReceivesMore) {
  for (const Rank ranks : {3, 8, 16}) {
    EXPECT_DOUBLE_EQ(evaluate(broadcast(ranks, Algorithm::kPipeline, 100, 10), uniform_loggp(kLong)),
                     (ranks - 1) * 16 + 9 * (2 + 3))
        << ranks;
  }
}

// Without overheads and gaps only L and G remain: Hockney's costs where no rank sends two messages at once.
TEST(LogGP, IsHockneyWithoutOverheads) {
  const LogGPLink link{.latency = 1, .per_byte = 1e-3};
  const Hockney hockney = uniform({1, 1e-3}, 5e-4);
  for (const Algorithm algorithm : {Algorithm::kRing, Algorithm::kRecursiveDoubling, Algorithm::kRabenseifner}) {
    const Schedule schedule =
        schedule::make_all({.collective = Collective::kAllreduce, .ranks = 16, .count = 65536}, {algorithm, 0});
    EXPECT_NEAR(evaluate(schedule, uniform_loggp(link, 5e-4)) / evaluate(schedule, hockney), 1, 1e-9)
        << algorithm_name(algorithm);
  }
}

TEST(LogGP, FollowsEverySchedule) {
  for (const Rank ranks : {1, 2, 7, 12}) {
    for (const Collective collective : {Collective::kBroadcast, Collective::kReduce, Collective::kAllreduce,
                                        Collective::kBarrier, Collective::kAllgather, Collective::kAlltoall}) {
      for (const Algorithm algorithm : algorithms_of(collective)) {
        const Schedule schedule = schedule::make_all(
            {.collective = collective, .ranks = ranks, .count = collective == Collective::kBarrier ? 0 : 50},
            {algorithm, 0});
        const double seconds = evaluate(schedule, uniform_loggp(kLong));
        EXPECT_EQ(seconds > 0, ranks > 1) << collective_name(collective) << algorithm_name(algorithm);
      }
    }
  }
}

TEST(LogGP, RefusesRanksThatWaitForEver) {
  Schedule schedule = pairs(1, 10);
  schedule[0].steps.clear();
  EXPECT_THROW(evaluate(schedule, uniform_loggp(kLong)), Error);
}

TEST(Wires, LetOneMessageLeaveAtATime) {
  Hockney model = uniform({10, 1, 0}, 0);
  EXPECT_DOUBLE_EQ(evaluate(pairs(2, 100), model), 110);
  model.node_of = {0, 0, 1, 1};  // both messages on one wire: the second begins when the first's bytes have left
  EXPECT_DOUBLE_EQ(evaluate(pairs(2, 100), model), 210);
  model.link = [](Rank, Rank) { return Link{10, 1, 5}; };
  EXPECT_DOUBLE_EQ(evaluate(pairs(2, 100), model), 215);
  model.node_of = {0, 1, 2, 2};  // from two nodes to one
  EXPECT_DOUBLE_EQ(evaluate(pairs(2, 100), model), 215);
  model.node_of = {0, 1, 2, 3};
  EXPECT_DOUBLE_EQ(evaluate(pairs(2, 100), model), 110);
  model.node_of = {0, 0, 0, 0};  // nothing leaves
  EXPECT_DOUBLE_EQ(evaluate(pairs(2, 100), model), 110);
  model.node_of = {0};
  EXPECT_THROW(evaluate(pairs(2, 100), model), Error);
}

TEST(Wires, AreSharedUnderLogGPToo) {
  LogGP model = uniform_loggp(kLong);
  EXPECT_DOUBLE_EQ(evaluate(pairs(2, 100), model), 25);
  model.node_of = {0, 0, 1, 1};  // leaves at 12
  EXPECT_DOUBLE_EQ(evaluate(pairs(2, 100), model), 35);
}

// hier-reduce-2016's allreduce among equal indices shares each node's wire among its ranks; lanes send as many bytes as
// leaders do. On 4 nodes of 4 ranks with free memory only the traffic between nodes counts.
TEST(Wires, MakeEqualIndicesPayForTheirBytes) {
  std::vector<std::int32_t> colours;
  for (Rank rank = 0; rank < 16; ++rank) colours.push_back(rank / 4);
  const auto hierarchy = schedule::Hierarchy::from_colours({&colours, 1});
  Parameters parameters{.levels = {{.name = "node", .latency = 0, .per_byte = 1}, {.name = "core"}}};
  const Machine machine(hierarchy, parameters);
  const auto cost = [&](schedule::Form form) {
    const Request request{.collective = Collective::kAllreduce, .ranks = 16, .count = 1600};
    return evaluate(transform_all(request, hierarchy, {.form = form, .algorithms = {Algorithm::kRing}}),
                    hockney_of(machine));
  };
  const double ring = 2 * 3.0 / 4 * 1600;  // of whole vectors over four nodes
  EXPECT_NEAR(cost(schedule::Form::kLanes), ring, 1e-9);
  EXPECT_NEAR(cost(schedule::Form::kLeaders), ring, 1e-9);
  EXPECT_NEAR(cost(schedule::Form::kSameIndex), 4 * ring, 1e-9);
}

}  // namespace
}  // namespace ranktree::core::predict
