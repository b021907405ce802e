#include "core/predict/candidates.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/predict/choice.h"
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
using test::kEveryCollective;

// Nodes of `width` ranks, packed or round robin.
Hierarchy nodes(Rank ranks, Rank width, bool packed = true) {
  std::vector<std::int32_t> colours;
  const Rank count = (ranks + width - 1) / width;
  for (Rank rank = 0; rank < ranks; ++rank) colours.push_back(packed ? rank / width : rank % count);
  return Hierarchy::from_colours({&colours, 1});
}

std::vector<Candidate> propose(Collective collective, std::int64_t bytes, const Hierarchy& machine, bool shared = false,
                               bool commutative = true, int most = 5) {
  return candidates({.collective = collective, .bytes = bytes, .commutative = commutative, .shared_memory = shared},
                    machine, usual_parameters(machine.given_levels()), most);
}

bool proposes(const std::vector<Candidate>& found, Algorithm algorithm, std::size_t among = 5) {
  return std::any_of(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(std::min(among, found.size())),
                     [&](const Candidate& each) { return each.choice.composition.algorithms.front() == algorithm; });
}

TEST(Candidates, CanBeMadeIntoSchedulesAndAreInOrder) {
  for (const Collective collective : kEveryCollective) {
    for (const Rank ranks : {2, 3, 15, 16, 33}) {
      for (const bool packed : {true, false}) {
        for (const Hierarchy& machine : {Hierarchy::flat(ranks), nodes(ranks, 4, packed)}) {
          for (const std::int64_t bytes : {0, 1, 1000, 1 << 20}) {
            for (const bool commutative : {true, false}) {
              const auto found = propose(collective, bytes, machine, true, commutative);
              ASSERT_FALSE(found.empty()) << collective_name(collective) << ranks;
              ASSERT_LE(found.size(), 5U);
              double before = 0;
              for (const Candidate& each : found) {
                EXPECT_GE(each.seconds, before);
                before = each.seconds;
                EXPECT_NE(each.choice.variant, Variant::kNative);
                EXPECT_EQ(choice_from_text(to_text(each.choice), collective), each.choice) << to_text(each.choice);
                if (each.choice.variant != Variant::kMessages) continue;
                const schedule::Request request{.collective = collective,
                                                .ranks = ranks,
                                                .count = collective == Collective::kBarrier ? 0 : bytes,
                                                .commutative = commutative};
                if (each.choice.groups == 1) {
                  EXPECT_NO_THROW(
                      make_all(request, {each.choice.composition.algorithms[0], each.choice.composition.segment}));
                } else {
                  const Hierarchy groups =
                      each.choice.groups > 1 ? Hierarchy::grouped(ranks, each.choice.groups) : machine;
                  EXPECT_NO_THROW(transform_all(request, groups, each.choice.composition)) << to_text(each.choice);
                }
              }
            }
          }
        }
      }
    }
  }
}

std::int64_t moved_between_nodes(const schedule::Schedule& all, const std::vector<std::int32_t>& node_of) {
  std::int64_t moved = 0;
  for (const schedule::Program& program : all) {
    for (const schedule::Step& step : program.steps) {
      if (step.action != schedule::Action::kSend) continue;
      const bool inside =
          node_of[static_cast<std::size_t>(program.rank)] == node_of[static_cast<std::size_t>(step.peer)];
      moved += inside ? 0 : step.from.count;
    }
  }
  return moved;
}

// Counted in the schedules themselves, on 4 nodes of 4, and of 4, 4, 4 and 3 ranks.
TEST(Candidates, MarkThoseThatMoveTheLeastBetweenNodes) {
  constexpr std::int64_t kBlock = 100000;
  for (const Collective collective : {Collective::kBroadcast, Collective::kReduce, Collective::kAllreduce,
                                      Collective::kAllgather, Collective::kReduceScatter}) {
    for (const Rank ranks : {15, 16}) {
      for (const bool packed : {true, false}) {
        const Hierarchy machine = nodes(ranks, 4, packed);
        std::vector<std::int32_t> node_of;
        for (Rank rank = 0; rank < ranks; ++rank) node_of.push_back(packed ? rank / 4 : rank % 4);
        const bool blocks = collective == Collective::kAllgather || collective == Collective::kReduceScatter;
        const std::int64_t vector = blocks ? kBlock * ranks : kBlock;
        const std::int64_t least = (collective == Collective::kAllreduce ? 6 : 3) * vector;
        int marked = 0;
        for (const Candidate& each : propose(collective, kBlock, machine, true, true, 40)) {
          marked += each.fewest_bytes ? 1 : 0;
          if (each.choice.variant == Variant::kShared && each.fewest_bytes && !blocks) {
            const auto all =
                schedule::make_all({.collective = collective, .ranks = 4, .count = kBlock},
                                   {each.choice.composition.algorithms[0], each.choice.composition.segment});
            EXPECT_LE(moved_between_nodes(all, {0, 1, 2, 3}), least) << to_text(each.choice);
          }
          if (each.choice.variant != Variant::kMessages) continue;
          EXPECT_FALSE(each.fewest_bytes && each.choice.groups == 1) << to_text(each.choice);
          if (each.choice.groups != 0) continue;
          const schedule::Request request{.collective = collective, .ranks = ranks, .count = kBlock};
          const auto moved = moved_between_nodes(transform_all(request, machine, each.choice.composition), node_of);
          EXPECT_GE(moved, least) << to_text(each.choice);
          EXPECT_TRUE(!each.fewest_bytes || moved == least)
              << to_text(each.choice) << collective_name(collective) << ranks;
        }
        EXPECT_GE(marked, 2) << collective_name(collective);
      }
    }
  }
}

// On nodes of 5, 3 and 1 ranks: twice the vector crosses, and 24 blocks in the flat ring, node after node.
TEST(Candidates, ExchangePairByPairInAReduceScatterOnUnevenNodes) {
  constexpr std::int64_t kBlock = 100000;
  const std::vector<std::int32_t> packed = {0, 0, 0, 0, 0, 1, 1, 1, 2};
  const std::vector<std::int32_t> mixed = {0, 1, 2, 0, 1, 0, 1, 0, 0};
  for (const auto& node_of : {packed, mixed}) {
    const Hierarchy machine = Hierarchy::from_colours({&node_of, 1});
    const auto found = propose(Collective::kReduceScatter, kBlock, machine, true, true, 24);
    const auto tried = worth_a_trial(found, 4);
    EXPECT_TRUE(std::any_of(tried.begin(), tried.end(), [](const Candidate& each) {
      return each.choice.variant == Variant::kShared && each.fewest_bytes &&
             each.choice.composition.algorithms.front() == Algorithm::kPairwise;
    }));
    int by_leaders = 0;
    for (const Candidate& each : found) {
      if (each.choice.groups == 1) continue;
      EXPECT_NE(each.choice.composition.algorithms.front(), Algorithm::kRing) << to_text(each.choice);
      if (each.choice.variant != Variant::kMessages) continue;
      const schedule::Request request{.collective = Collective::kReduceScatter, .ranks = 9, .count = kBlock};
      const auto moved = moved_between_nodes(transform_all(request, machine, each.choice.composition), node_of);
      EXPECT_EQ(moved, 2 * 9 * kBlock) << to_text(each.choice);
      ++by_leaders;
    }
    EXPECT_EQ(by_leaders, 2);
  }
  EXPECT_FALSE(proposes(propose(Collective::kReduceScatter, kBlock, nodes(16, 4), true), Algorithm::kPairwise));
}

TEST(Candidates, AreNotMarkedWhereBytesDoNotMatter) {
  const auto none = [](const std::vector<Candidate>& found) {
    return std::none_of(found.begin(), found.end(), [](const Candidate& each) { return each.fewest_bytes; });
  };
  EXPECT_TRUE(none(propose(Collective::kBroadcast, 1024, nodes(16, 4), true)));
  EXPECT_TRUE(none(propose(Collective::kAlltoall, 1 << 20, nodes(16, 4), true)));
  EXPECT_TRUE(none(propose(Collective::kBroadcast, 1 << 20, Hierarchy::flat(16), false)));
}

TEST(Candidates, AreTreesForShortMessagesAndSlicesForLongOnes) {
  const Hierarchy machine = nodes(512, 16);
  EXPECT_TRUE(proposes(propose(Collective::kBroadcast, 8, machine), Algorithm::kBinomial, 1));
  EXPECT_TRUE(proposes(propose(Collective::kAllreduce, 8, machine), Algorithm::kRecursiveDoubling, 1));
  EXPECT_TRUE(proposes(propose(Collective::kBarrier, 0, machine), Algorithm::kDissemination, 1));
  // Round robin, where a ring over all ranks crosses the wire with every message.
  const auto large = propose(Collective::kAllreduce, 64 << 20, nodes(512, 16, false));
  EXPECT_EQ(large[0].choice.composition.form, schedule::Form::kLanes);
  EXPECT_EQ(large[0].choice.groups, 0);
  const auto cut = propose(Collective::kBroadcast, 64 << 20, machine);
  EXPECT_TRUE(cut[0].choice.composition.segment > 0 || proposes(cut, Algorithm::kScatterRing, 1))
      << to_text(cut[0].choice);
}

TEST(Candidates, UseSharedMemoryInsideNodesWhereAllowed) {
  for (const Hierarchy& machine : {nodes(64, 16), Hierarchy::flat(16)}) {
    const auto shared = propose(Collective::kBroadcast, 1 << 20, machine, true);
    EXPECT_TRUE(
        std::any_of(shared.begin(), shared.end(), [](const auto& c) { return c.choice.variant == Variant::kShared; }));
    const auto unshared = propose(Collective::kBroadcast, 1 << 20, machine, false);
    EXPECT_TRUE(std::none_of(unshared.begin(), unshared.end(),
                             [](const auto& c) { return c.choice.variant == Variant::kShared; }));
  }
}

TEST(Candidates, IncludeSharedMemoryWhereAllowed) {
  for (const Collective collective : kEveryCollective) {
    for (const Rank ranks : {2, 8, 16, 40}) {
      for (const std::int64_t bytes : {8, 4096, 1 << 20}) {
        for (const Hierarchy& machine : {Hierarchy::flat(ranks), nodes(ranks, 2)}) {
          const auto found = propose(collective, bytes, machine, true, true, 3);
          EXPECT_EQ(std::any_of(found.begin(), found.end(),
                                [](const Candidate& each) { return each.choice.variant == Variant::kShared; }),
                    collective != Collective::kAlltoall)  // shared memory has no alltoall
              << collective_name(collective) << ranks;
        }
      }
    }
  }
}

// What is tried first without a search must not be proposed once more under another name.
TEST(Candidates, OnOneNodeHaveTheOneVariantInItsMemory) {
  for (const Collective collective : kEveryCollective) {
    for (const bool commutative : {true, false}) {
      for (const std::int64_t bytes : {8, 4096, 1 << 20}) {
        const std::optional<Choice> first = in_memory_of_node(collective, commutative);
        EXPECT_EQ(first.has_value(), collective != Collective::kAlltoall);
        for (const Candidate& each : propose(collective, bytes, Hierarchy::flat(5), true, commutative, 24)) {
          if (each.choice.variant != Variant::kShared) continue;
          EXPECT_TRUE(first == each.choice) << collective_name(collective) << bytes << to_text(each.choice);
        }
      }
    }
  }
}

// With sockets, messages of 64 KiB wait for the receiver, and a pipeline of them takes twice as long.
TEST(Candidates, SendShortMessagesBetweenNodes) {
  const Hierarchy machine = nodes(16, 4);
  for (const Collective collective : {Collective::kBroadcast, Collective::kReduce, Collective::kAllreduce}) {
    int cut = 0;
    for (const Candidate& each : propose(collective, 4 << 20, machine, true, true, 20)) {
      const Algorithm algorithm = each.choice.composition.algorithms.front();
      if (each.choice.variant != Variant::kShared) continue;
      const bool slices = algorithm == Algorithm::kRing || algorithm == Algorithm::kScatterRing;
      EXPECT_LE(each.choice.composition.segment, slices ? 4 * 32768 : 2 * 32768) << to_text(each.choice);
      EXPECT_GT(each.choice.composition.segment, 0) << to_text(each.choice);
      ++cut;
    }
    EXPECT_GE(cut, 2);
  }
}

bool is_shared(const Candidate& each) { return each.choice.variant == Variant::kShared; }

TEST(WorthATrial, ExcludesExpensiveVariantsExceptSharedMemory) {
  const auto found =
      worth_a_trial(propose(Collective::kReduceScatter, 1 << 16, nodes(16, 4), true, true, 24), /*most=*/20);
  ASSERT_FALSE(found.empty());
  for (const Candidate& each : found) {
    EXPECT_TRUE(each.seconds <= 2.5 * found.front().seconds || is_shared(each)) << to_text(each.choice);
  }
  EXPECT_TRUE(worth_a_trial({}, 3).empty());
}

// The closed forms ignore how well the segments of a pipeline between leaders overlap.
TEST(WorthATrial, IncludesSharedMemoryWithTheLeastTraffic) {
  const auto candidate = [](Variant which, Algorithm algorithm, double seconds, bool fewest_bytes) {
    Candidate made{.choice = {.variant = which}, .seconds = seconds, .fewest_bytes = fewest_bytes};
    made.choice.composition.algorithms = {algorithm};
    return made;
  };
  const std::vector<Candidate> possible{candidate(Variant::kMessages, Algorithm::kPipeline, 10, true),
                                        candidate(Variant::kShared, Algorithm::kScatterDoubling, 11, false),
                                        candidate(Variant::kShared, Algorithm::kScatterRing, 12, false),
                                        candidate(Variant::kMessages, Algorithm::kSplitBinary, 13, false),
                                        candidate(Variant::kShared, Algorithm::kPipeline, 20, true)};
  const auto tried = worth_a_trial(possible, 3);
  ASSERT_EQ(tried.size(), 3U);
  EXPECT_EQ(tried.front().choice, possible.front().choice);
  EXPECT_EQ(tried.back().choice, possible.back().choice);
}

// The closed forms count a latency for each message of a leader, three here where two would do.
TEST(WorthATrial, IncludesShortMessagesInFlightAtOnce) {
  const auto at_once = [](Collective collective, std::int64_t bytes, const Hierarchy& machine, bool shared,
                          Algorithm tree = Algorithm::kFlat) {
    const auto few = worth_a_trial(propose(collective, bytes, machine, shared), 4);
    return std::count_if(few.begin(), few.end(), [tree](const Candidate& each) {
      return each.at_once && each.choice.composition.algorithms.front() == tree;
    });
  };
  for (const bool shared : {false, true}) {
    for (const Collective collective : {Collective::kBroadcast, Collective::kReduce}) {
      for (const auto& [ranks, width] : {std::pair{16, 4}, {64, 4}, {8, 2}, {512, 64}, {1024, 64}}) {
        EXPECT_EQ(at_once(collective, 8, nodes(ranks, width), shared), 1) << ranks << " by " << width;
      }
      EXPECT_EQ(at_once(collective, 1 << 20, nodes(16, 4), shared), 0);
      EXPECT_EQ(at_once(collective, 8, nodes(68, 4), shared), 0);
      EXPECT_EQ(at_once(collective, 8, nodes(68, 4), shared, Algorithm::kKNomial), 1);
    }
    EXPECT_EQ(at_once(Collective::kAllreduce, 8, nodes(16, 4), shared), 0);
  }
  EXPECT_EQ(at_once(Collective::kBroadcast, 8, Hierarchy::flat(4), false), 1) << "a rank a node";
  EXPECT_EQ(at_once(Collective::kBroadcast, 8, Hierarchy::flat(4), true), 0) << "one node";
  EXPECT_EQ(at_once(Collective::kBroadcast, 8, Hierarchy::flat(40), false, Algorithm::kKNomial), 1);
}

// Elsewhere they pay three latencies where a binomial tree pays two.
TEST(Candidates, HaveKNomialTreesOnlyWhereMessagesAreInFlightAtOnce) {
  const auto k_nomial = [](Collective collective, std::int64_t bytes, const Hierarchy& machine) {
    std::vector<Candidate> found = propose(collective, bytes, machine, true, true, 60);
    std::erase_if(
        found, [](const Candidate& each) { return each.choice.composition.algorithms.front() != Algorithm::kKNomial; });
    return found;
  };
  for (const Collective collective : {Collective::kBroadcast, Collective::kReduce}) {
    EXPECT_FALSE(k_nomial(collective, 8, nodes(68, 4)).empty());
    EXPECT_TRUE(k_nomial(collective, 8, nodes(64, 4)).empty()) << "flat takes fewer latencies";
    EXPECT_TRUE(k_nomial(collective, 1 << 20, nodes(68, 4)).empty());
    const auto alone = k_nomial(collective, 8, Hierarchy::flat(40));
    EXPECT_TRUE(std::all_of(alone.begin(), alone.end(), [](const Candidate& each) { return each.choice.groups == 1; }));
  }
}

// Where shared memory cannot run, as for vectors on several nodes, messages remain.
TEST(WorthATrial, ComparesOnlyWhatCanRun) {
  for (const Collective collective : {Collective::kReduceScatter, Collective::kAllgather}) {
    auto possible = propose(collective, 1024, nodes(256, 64), true, true, 24);
    std::erase_if(possible, is_shared);
    EXPECT_FALSE(worth_a_trial(possible, 4).empty()) << collective_name(collective);
  }
}

// Variants of similar cost: two of one kind, and one of another kind that costs more.
TEST(WorthATrial, PrefersDifferentKinds) {
  const auto candidate = [](Variant which, std::vector<Algorithm> algorithms, double seconds) {
    Candidate made{.choice = {.variant = which}, .seconds = seconds};
    made.choice.composition.algorithms = std::move(algorithms);
    return made;
  };
  const std::vector<Candidate> possible{
      candidate(Variant::kShared, {Algorithm::kRecursiveDoubling}, 10),
      candidate(Variant::kMessages, {Algorithm::kRecursiveDoubling, Algorithm::kBinomial}, 11),
      candidate(Variant::kMessages, {Algorithm::kRecursiveDoubling, Algorithm::kFlat}, 12),
      candidate(Variant::kMessages, {Algorithm::kRing, Algorithm::kBinomial}, 20),
      candidate(Variant::kMessages, {Algorithm::kLinear, Algorithm::kBinomial}, 26),
  };
  const auto three = worth_a_trial(possible, 3);
  ASSERT_EQ(three.size(), 3U);
  EXPECT_EQ(three[0].choice, possible[0].choice);
  EXPECT_EQ(three[1].choice, possible[1].choice);
  EXPECT_EQ(three[2].choice, possible[3].choice);
  const auto four = worth_a_trial(possible, 4);  // a second one of a kind fills the list, in order of cost
  ASSERT_EQ(four.size(), 4U);
  EXPECT_EQ(four[2].choice, possible[2].choice);
  EXPECT_EQ(four[3].choice, possible[3].choice);
  EXPECT_EQ(worth_a_trial(possible, 9).size(), 4U);
}

// A long list, for instance of all base algorithms that an MPI has, includes expensive ones.
TEST(Candidates, IncludeEveryKindInALongList) {
  for (const Collective collective : {Collective::kAllgather, Collective::kReduceScatter}) {
    const auto found = propose(collective, 1024, nodes(64, 8), true, true, 100);
    const auto has = [&](Rank groups) {
      return std::any_of(found.begin(), found.end(), [&](const Candidate& each) {
        return each.choice.variant == Variant::kMessages && each.choice.groups == groups;
      });
    };
    EXPECT_TRUE(has(0)) << collective_name(collective);
    EXPECT_TRUE(has(1)) << collective_name(collective);
  }
}

// The smallest node determines the number of slices.
TEST(Candidates, InLanesOfUnequalNodesSendShortMessages) {
  const std::vector<std::int32_t> sizes[] = {{4, 4, 4, 3}, {16, 16, 1}};
  for (const std::vector<std::int32_t>& each_size : sizes) {
    std::vector<std::int32_t> colours;
    for (std::size_t node = 0; node < each_size.size(); ++node) {
      colours.insert(colours.end(), static_cast<std::size_t>(each_size[node]), static_cast<std::int32_t>(node));
    }
    const Hierarchy machine = Hierarchy::from_colours({&colours, 1});
    int lanes = 0;
    for (const Candidate& each : propose(Collective::kAllreduce, 16 << 20, machine, false, true, 100)) {
      if (each.choice.groups != 0 || each.choice.composition.form != schedule::Form::kLanes) continue;
      const bool ring = each.choice.composition.algorithms.front() == Algorithm::kRing;
      const std::int64_t parts = static_cast<std::int64_t>(each_size.back()) * (ring ? machine.children(0, 0) : 2);
      EXPECT_LE(each.choice.composition.segment, parts * 32768) << to_text(each.choice);
      EXPECT_GT(each.choice.composition.segment, 0) << to_text(each.choice);
      ++lanes;
    }
    EXPECT_GE(lanes, 1);
  }
}

TEST(Candidates, OfAlltoallAreGroupsForShortBlocks) {
  const auto tiny = propose(Collective::kAlltoall, 8, nodes(128, 8), true);
  EXPECT_EQ(tiny[0].choice.groups, 0) << to_text(tiny[0].choice);
  EXPECT_TRUE(proposes(tiny, Algorithm::kBruck, 1));
  const auto shorter = propose(Collective::kAlltoall, 256, nodes(128, 8), true);
  EXPECT_TRUE(std::any_of(shorter.begin(), shorter.end(), [](const auto& c) {
    return c.choice.groups == 0 && c.choice.composition.form == schedule::Form::kLanes;
  }));
  const auto large = propose(Collective::kAlltoall, 1 << 20, nodes(128, 8), true);
  EXPECT_TRUE(
      std::all_of(large.begin(), large.end(), [](const auto& c) { return c.choice.variant == Variant::kMessages; }));
}

TEST(Candidates, AreDistinct) {
  for (const Collective collective : kEveryCollective) {
    const auto found = propose(collective, 1 << 20, nodes(64, 8), true, true, 20);
    for (std::size_t i = 0; i < found.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        EXPECT_FALSE(found[i].choice == found[j].choice);
        const bool same = found[i].choice.variant == found[j].choice.variant &&
                          found[i].choice.composition.algorithms == found[j].choice.composition.algorithms &&
                          found[i].choice.composition.form == found[j].choice.composition.form &&
                          found[i].choice.groups == found[j].choice.groups;
        EXPECT_TRUE(!same || found[i].seconds > 1.01 * found[j].seconds) << to_text(found[i].choice);
      }
    }
  }
}

TEST(Candidates, AreDeterministic) {
  const Hierarchy machine = nodes(60, 7);
  const auto once = propose(Collective::kReduce, 100'000, machine, true);
  const auto again = propose(Collective::kReduce, 100'000, machine, true);
  ASSERT_EQ(once.size(), again.size());
  for (std::size_t i = 0; i < once.size(); ++i) EXPECT_EQ(once[i].choice, again[i].choice);
}

// A choice is made inside a call of the program; what grew by the square of the ranks would not end here.
TEST(Candidates, AreFoundForAHundredThousandRanks) {
  EXPECT_FALSE(propose(Collective::kAllreduce, 1 << 20, nodes(100'000, 64), true).empty());
}

TEST(Candidates, NeedTwoRanks) { EXPECT_TRUE(propose(Collective::kBroadcast, 8, Hierarchy::flat(1)).empty()); }

}  // namespace
}  // namespace ranktree::core::predict
