// Expansion of collective calls: figures calculated by hand, and properties of every model, operation and size.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/pattern/expand.h"
#include "core/pattern/pattern.h"

namespace {

using ranktree::core::Error;
using ranktree::core::pattern::Class;
using ranktree::core::pattern::CollectiveCalls;
using ranktree::core::pattern::CollectiveModel;
using ranktree::core::pattern::Entry;
using ranktree::core::pattern::expand;
using ranktree::core::pattern::from_entries;
using ranktree::core::pattern::Operation;
using ranktree::core::pattern::Pattern;
using ranktree::core::pattern::Rank;

using Sent = std::pair<double, double>;  // messages, bytes
using Pairs = std::map<std::pair<Rank, Rank>, Sent>;

std::vector<Rank> all_of(Rank ranks) {
  std::vector<Rank> members(static_cast<std::size_t>(ranks));
  std::iota(members.begin(), members.end(), 0);
  return members;
}

// `times` calls by all ranks of a world.
Pattern world(Rank ranks, Operation operation, Rank root, double bytes, double times = 1) {
  Pattern pattern = from_entries(ranks, {});
  pattern.communicators.push_back({all_of(ranks), {}});
  pattern.collectives.push_back({0, operation, root, 0, times * ranks, bytes * times * ranks});
  return pattern;
}

Pairs pairs(const Pattern& pattern) {
  Pairs found;
  const auto& sent = pattern.of(Class::kCollective);
  for (Rank from = 0; from < pattern.ranks; ++from) {
    for (auto i = pattern.indptr[from]; i < pattern.indptr[from + 1]; ++i) {
      found[{from, pattern.indices[i]}] = {sent.messages[i], sent.bytes[i]};
    }
  }
  return found;
}

Sent all_sent(const Pattern& pattern) {
  const auto& sent = pattern.of(Class::kCollective);
  return {std::accumulate(sent.messages.begin(), sent.messages.end(), 0.0),
          std::accumulate(sent.bytes.begin(), sent.bytes.end(), 0.0)};
}

bool has_root(Operation operation) {
  return operation == Operation::kBcast || operation == Operation::kReduce || operation == Operation::kGather ||
         operation == Operation::kScatter;
}

constexpr CollectiveModel kModels[] = {CollectiveModel::kOpenMpi, CollectiveModel::kMpich, CollectiveModel::kFlat};
constexpr Rank kSizes[] = {2,  3,  4,  5,   7,   8,   9,   12,  16,  17,   31,   33,
                           48, 64, 67, 100, 128, 130, 257, 300, 513, 1030, 2100, 4100};

struct Sample {
  CollectiveModel model;
  Operation operation;
  Rank ranks;
  double bytes;

  [[nodiscard]] Rank root() const { return has_root(operation) ? ranks / 3 : -1; }
  [[nodiscard]] Pattern expanded(double times = 1) const {
    return expand(world(ranks, operation, root(), bytes, times), model);
  }
  [[nodiscard]] std::string text() const {
    return std::string(collective_model_name(model)) + ' ' + std::string(operation_name(operation)) + ' ' +
           std::to_string(ranks) + " ranks " + std::to_string(bytes) + " bytes";
  }
};

// Every model with every size of communicator and message, the large ones for rooted operations only.
std::vector<Sample> samples(Operation operation, const std::vector<double>& sizes) {
  std::vector<Sample> found;
  for (const auto model : kModels) {
    for (const Rank ranks : kSizes) {
      if (ranks > 130 && !has_root(operation)) continue;  // too many pairs
      for (const double bytes : sizes) found.push_back({model, operation, ranks, bytes});
    }
  }
  return found;
}

std::vector<Operation> operations() {
  std::vector<Operation> found;
  for (int i = 0; i < ranktree::core::pattern::kOperationCount; ++i) found.push_back(static_cast<Operation>(i));
  return found;
}

// The fewest bytes that a rank other than the root receives.
double least_received(const Sample& sample) {
  std::vector<double> received(static_cast<std::size_t>(sample.ranks), 0);
  for (const auto& [pair, sent] : pairs(sample.expanded())) {
    received[static_cast<std::size_t>(pair.second)] += sent.second;
  }
  received.erase(received.begin() + sample.root());
  return *std::min_element(received.begin(), received.end());
}

TEST(Expand, KeepsTheMessagesByCallAndSize) {
  Pattern pattern = from_entries(2, std::vector<Entry>{{0, 1, Class::kPointToPoint, 1, 8}});
  pattern.sent = {{.bucket = 4, .messages = 1, .bytes = 8}};
  EXPECT_EQ(expand(pattern, CollectiveModel::kFlat).sent.size(), 1U);
}

TEST(Expand, BroadcastReachesAllRanksWithTheWholeMessage) {
  for (const Sample& sample : samples(Operation::kBcast, {1, 24, 3000, 20000, 700000, 3000000})) {
    EXPECT_GE(least_received(sample), sample.bytes) << sample.text();
  }
}

// Every rank but the root must send its vector; no algorithm moves more than three times that.
TEST(Expand, ReduceTakesEveryVectorOnce) {
  for (const Sample& sample : samples(Operation::kReduce, {8, 4000, 800000})) {
    const double bytes = all_sent(sample.expanded()).second;
    EXPECT_GE(bytes, sample.bytes * (sample.ranks - 1)) << sample.text();
    EXPECT_LE(bytes, 3 * sample.bytes * (sample.ranks - 1)) << sample.text();
  }
}

TEST(Expand, AlltoallMovesEveryBlockAtLeastOnce) {
  for (const Sample& sample : samples(Operation::kAlltoall, {4, 2000, 100000})) {
    EXPECT_GE(all_sent(sample.expanded()).second, sample.bytes * sample.ranks * (sample.ranks - 1)) << sample.text();
  }
}

// No algorithm sends a block twice to the same rank.
TEST(Expand, AllgatherMovesEveryBlockExactlyOnce) {
  for (const Sample& sample : samples(Operation::kAllgather, {4, 2000, 100000})) {
    EXPECT_EQ(all_sent(sample.expanded()).second, sample.bytes * sample.ranks * (sample.ranks - 1)) << sample.text();
  }
}

// n calls are n times one call.
TEST(Expand, CountsCalls) {
  for (const auto model : kModels) {
    for (const auto operation : operations()) {
      const Sample sample{model, operation, 7, 840};
      Pairs expected = pairs(sample.expanded());
      for (auto& [pair, sent] : expected) sent = {5 * sent.first, 5 * sent.second};
      EXPECT_EQ(pairs(sample.expanded(5)), expected) << sample.text();
    }
  }
}

// Local ranks are translated to the members of the communicator.
TEST(Expand, TranslatesRanks) {
  const std::vector<Rank> members{6, 4, 2, 0, 1, 3, 5};
  for (const auto operation : operations()) {
    Pattern pattern = world(7, operation, has_root(operation) ? 2 : -1, 840);
    Pairs expected;
    for (const auto& [pair, sent] : pairs(expand(pattern, CollectiveModel::kOpenMpi))) {
      expected[{members[static_cast<std::size_t>(pair.first)], members[static_cast<std::size_t>(pair.second)]}] = sent;
    }
    pattern.communicators[0].members = members;
    EXPECT_EQ(pairs(expand(pattern, CollectiveModel::kOpenMpi)), expected) << operation_name(operation);
  }
}

TEST(Expand, NoRankSendsToItself) {
  for (const auto operation : operations()) {
    for (const Sample& sample : samples(operation, {7, 70001})) {
      const Pairs found = pairs(sample.expanded());
      EXPECT_TRUE(std::all_of(found.begin(), found.end(), [](const auto& entry) {
        return entry.first.first != entry.first.second && entry.second.first > 0;
      })) << sample.text();
    }
  }
}

TEST(Expand, ACommunicatorOfOneSendsNothing) {
  for (const auto operation : operations()) {
    EXPECT_TRUE(pairs(Sample{CollectiveModel::kOpenMpi, operation, 1, 800}.expanded()).empty());
  }
}

TEST(Expand, EmptyCallsSendNothingButABarrierDoes) {
  EXPECT_TRUE(pairs(expand(world(8, Operation::kAllreduce, -1, 0), CollectiveModel::kOpenMpi)).empty());
  const Pairs barrier = pairs(expand(world(8, Operation::kBarrier, -1, 0), CollectiveModel::kOpenMpi));
  EXPECT_EQ(barrier.size(), 24U);  // recursive doubling: log2(8) partners each
  EXPECT_EQ(barrier.at({5, 1}), Sent(1, 0));
}

// R. Rabenseifner's allreduce on a power of two moves 2 (p-1)/p of the vector a rank, half of it to the neighbour
// twice.
TEST(Expand, LongAllreduceHalvesTheVector) {
  for (const auto model : {CollectiveModel::kOpenMpi, CollectiveModel::kMpich}) {
    const Pairs found = pairs(expand(world(8, Operation::kAllreduce, -1, 80000), model));
    EXPECT_EQ(found.at({2, 3}), Sent(2, 80000));  // distance 1: the half, and back
    EXPECT_EQ(found.at({2, 0}), Sent(2, 40000));
    EXPECT_EQ(found.at({2, 6}), Sent(2, 20000));
    EXPECT_EQ(found.size(), 24U);
  }
}

// Seven ranks, a short broadcast from rank 3: Open MPI's binary tree is numbered level by level, MPICH's is binomial.
TEST(Expand, TreesAreThoseOfTheLibraries) {
  const Pairs binary = pairs(expand(world(7, Operation::kBcast, 3, 40), CollectiveModel::kOpenMpi));
  // shifted: 0 -> 1 2, 1 -> 3 5, 2 -> 4 6
  const Pairs expected_binary{{{3, 4}, {1, 40}}, {{3, 5}, {1, 40}}, {{4, 6}, {1, 40}},
                              {{4, 1}, {1, 40}}, {{5, 0}, {1, 40}}, {{5, 2}, {1, 40}}};
  EXPECT_EQ(binary, expected_binary);
  const Pairs binomial = pairs(expand(world(7, Operation::kBcast, 3, 40), CollectiveModel::kMpich));
  // shifted: 0 -> 4 2 1, 2 -> 3, 4 -> 6 5
  const Pairs expected_binomial{{{3, 0}, {1, 40}}, {{3, 5}, {1, 40}}, {{3, 4}, {1, 40}},
                                {{5, 6}, {1, 40}}, {{0, 2}, {1, 40}}, {{0, 1}, {1, 40}}};
  EXPECT_EQ(binomial, expected_binomial);
}

TEST(Expand, FlatIsRootToAllRanks) {
  const Pairs found = pairs(expand(world(4, Operation::kScatter, 1, 10, 3), CollectiveModel::kFlat));
  const Pairs expected{{{1, 0}, {3, 30}}, {{1, 2}, {3, 30}}, {{1, 3}, {3, 30}}};
  EXPECT_EQ(found, expected);
  EXPECT_EQ(all_sent(expand(world(4, Operation::kReduceScatter, -1, 40), CollectiveModel::kFlat)), Sent(12, 120));
  EXPECT_EQ(all_sent(expand(world(4, Operation::kScan, -1, 8), CollectiveModel::kFlat)), Sent(6, 48));
}

TEST(Expand, NoneDropsAllCollectivesAndKeepsTheRest) {
  Pattern pattern = from_entries(
      3, std::vector<Entry>{
             {0, 1, Class::kPointToPoint, 2, 20}, {1, 2, Class::kCollective, 1, 5}, {2, 0, Class::kRma, 1, 7}});
  pattern.communicators.push_back({all_of(3), {}});
  pattern.collectives.push_back({0, Operation::kBcast, 0, 4, 3, 24});
  pattern.metadata.mpi = "Open MPI v4.1.4";
  const Pattern none = expand(pattern, CollectiveModel::kNone);
  EXPECT_TRUE(none.collectives.empty());
  EXPECT_EQ(none.indices, (std::vector<Rank>{1, 0}));
  EXPECT_EQ(none.metadata.mpi, "Open MPI v4.1.4");
  const Pattern all = expand(pattern, CollectiveModel::kOpenMpi);
  EXPECT_EQ(all.of(Class::kPointToPoint).bytes, (std::vector<double>{20, 0, 0}));
  EXPECT_EQ(all.of(Class::kCollective).bytes, (std::vector<double>{8, 13, 0}));  // a chain 0 -> 1 -> 2, and the 5 known
}

// A record counts the calls of one group, or of a root and the other group; a phase repeats as often as the program
// called.
TEST(Expand, CountsTheCallsOfIntercommunicators) {
  Pattern pattern = from_entries(5, {});
  pattern.phased = true;
  pattern.communicators = {{{0, 1}, {2, 3, 4}}, {{2, 3, 4}, {0, 1}}};
  pattern.collectives = {{0, Operation::kAllgather, -1, 4, 2 * 6, 2 * 6 * 8},
                         {1, Operation::kAllgather, -1, 4, 3 * 6, 3 * 6 * 8},
                         {0, Operation::kBcast, 1, 4, (1 + 3) * 5, (1 + 3) * 5 * 8}};
  for (const auto model : kModels) {
    std::map<std::string, std::vector<double>> counts;
    for (const auto& phase : expand(pattern, model).phases) counts[phase.name].push_back(phase.count);
    EXPECT_EQ(counts["MPI_Allgather of 5 ranks"], (std::vector<double>{6, 6}));
    EXPECT_EQ(counts["MPI_Bcast of 5 ranks"], std::vector<double>{5});
  }
}

// A record of different sizes: the mean chooses the algorithm, the sum stays.
// Two halves of the ranks are in an Allgather at the same time; a Bcast of all comes at another one.
TEST(Expand, MakesPhasesOfCallsWherePhasesWereRecorded) {
  Pattern pattern =
      from_entries(4, std::vector<Entry>{{0, 3, Class::kPointToPoint, 2, 20}, {3, 0, Class::kPointToPoint, 1, 10}});
  pattern.communicators = {{{0, 1, 2, 3}, {}}, {{0, 1}, {}}, {{2, 3}, {}}};
  pattern.collectives = {{0, Operation::kBcast, 0, 5, 4, 64},
                         {1, Operation::kAllgather, -1, 5, 6, 96},
                         {2, Operation::kAllgather, -1, 5, 6, 96}};
  const Pattern together = expand(pattern, CollectiveModel::kFlat);
  EXPECT_TRUE(together.phases.empty());
  pattern.phased = true;
  pattern.phases = {{"before MPI_Bcast", 1, {1}, {{1}, {10}}}};
  const Pattern expanded = expand(pattern, CollectiveModel::kFlat);
  EXPECT_TRUE(expanded.phased);
  ASSERT_EQ(expanded.phases.size(), 3U);
  EXPECT_EQ(expanded.phases[0].name, "before MPI_Bcast");
  EXPECT_EQ(expanded.phases[0].traffic.bytes, std::vector<double>{10});
  EXPECT_EQ(expanded.indices[static_cast<std::size_t>(expanded.phases[0].pairs[0])], 0);
  EXPECT_EQ(expanded.phases[1].name, "MPI_Bcast of 4 ranks");
  EXPECT_EQ(expanded.phases[1].count, 1);
  EXPECT_EQ(expanded.phases[1].pairs.size(), 3U);
  EXPECT_EQ(expanded.phases[2].name, "MPI_Allgather of 2 ranks");
  EXPECT_EQ(expanded.phases[2].count, 3);
  EXPECT_EQ(expanded.phases[2].pairs.size(), 4U);
  EXPECT_EQ(all_sent(expanded), all_sent(together));
  EXPECT_EQ(expand(pattern, CollectiveModel::kNone).phases.size(), 1U);
}

TEST(Expand, KeepsTheBytesOfUnequalCalls) {
  Pattern pattern = from_entries(4, {});
  pattern.communicators.push_back({all_of(4), {}});
  pattern.collectives.push_back({0, Operation::kBcast, 0, 4, 8, 4 * 9 + 4 * 12});  // two calls, mean 10.5 bytes
  EXPECT_EQ(all_sent(expand(pattern, CollectiveModel::kFlat)), Sent(6, 63));
}

// Extreme amounts that a file may hold: the sums are exact, or the file is refused; nothing overflows.
TEST(Expand, SurvivesExtremeAmounts) {
  for (const auto model : kModels) {
    for (const auto operation : operations()) {
      Pattern pattern = world(5, operation, has_root(operation) ? 0 : -1, 8);
      for (const auto& [calls, bytes] :
           std::vector<Sent>{{1e-300, 9e15}, {9e15, 9e15}, {9e15, 1}, {0, 9e15}, {5, 9e15}}) {
        pattern.collectives[0].calls = calls;
        pattern.collectives[0].bytes = bytes;
        try {
          validate(expand(pattern, model), "expanded");
        } catch (const Error& error) {
          EXPECT_NE(std::string(error.what()).find("2^53"), std::string::npos) << error.what();
        }
      }
    }
  }
}

// Ranks 0 1 2 against 3 4: the root's data crosses once, to the other group's first rank, which spreads it.
TEST(Expand, IntercommunicatorsGoThroughTheFirstRank) {
  Pattern pattern = from_entries(5, {});
  pattern.communicators.push_back({{0, 1, 2}, {3, 4}});
  pattern.collectives.push_back({0, Operation::kBcast, 2, 0, 3, 300});
  const Pairs expected{{{2, 3}, {1, 100}}, {{3, 4}, {1, 100}}};
  EXPECT_EQ(pairs(expand(pattern, CollectiveModel::kOpenMpi)), expected);
  EXPECT_EQ(pairs(expand(pattern, CollectiveModel::kMpich)), expected);
  pattern.collectives[0] = {0, Operation::kGather, 2, 0, 3, 300};
  const Pairs gathered{{{4, 3}, {1, 100}}, {{3, 2}, {1, 200}}};
  EXPECT_EQ(pairs(expand(pattern, CollectiveModel::kMpich)), gathered);
  pattern.collectives[0] = {0, Operation::kAlltoall, -1, 0, 3, 300};
  EXPECT_EQ(pairs(expand(pattern, CollectiveModel::kOpenMpi)).size(), 6U);
}

TEST(Expand, RefusesARootOutsideTheFirstGroup) {
  Pattern pattern = from_entries(5, {});
  pattern.communicators.push_back({{0, 1}, {2, 3, 4}});
  pattern.collectives.push_back({0, Operation::kBcast, 2, 0, 4, 400});
  EXPECT_THROW(expand(pattern, CollectiveModel::kOpenMpi), Error);
}

TEST(Expand, ModelsHaveNames) {
  for (const std::string name : {"openmpi", "mpich", "flat", "none"}) {
    const auto model = ranktree::core::pattern::collective_model_from_name(name);
    ASSERT_TRUE(model.has_value());
    EXPECT_EQ(ranktree::core::pattern::collective_model_name(*model), name);
  }
  EXPECT_FALSE(ranktree::core::pattern::collective_model_from_name("binomial").has_value());
}

TEST(Expand, TakesTheModelOfTheMpiThatWasTraced) {
  Pattern pattern = from_entries(1, {});
  EXPECT_EQ(natural_model(pattern), CollectiveModel::kOpenMpi);
  pattern.metadata.mpi = "MPICH Version:\t4.0.2";
  EXPECT_EQ(natural_model(pattern), CollectiveModel::kMpich);
  pattern.metadata.mpi = "Intel(R) MPI Library 2021.19";
  EXPECT_EQ(natural_model(pattern), CollectiveModel::kMpich);
  pattern.metadata.mpi = "Open MPI v4.1.4, package: Debian OpenMPI";
  EXPECT_EQ(natural_model(pattern), CollectiveModel::kOpenMpi);
}

}  // namespace
