// Which sends wait for which others on a link that they share.
#include "core/schedule/links.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <vector>

#include "core/schedule/hierarchy.h"
#include "core/schedule/makers.h"
#include "core/schedule/schedule.h"
#include "core/schedule/transform.h"

namespace ranktree::core::schedule {
namespace {

using Sends = std::map<Rank, std::vector<Rank>>;

// For each rank that a rank sends to, the ranks that earlier sends go to which this one waits for.
Sends turns_of(const Program& program) {
  Sends turns;
  for (const Step& step : program.steps) {
    if (step.action != Action::kSend) continue;
    std::vector<Rank>& earlier = turns[step.peer];
    for (const std::int32_t index : program.dependencies_of(step)) {
      const Step& before = program.steps[static_cast<std::size_t>(index)];
      if (before.action == Action::kSend) earlier.push_back(before.peer);
    }
  }
  return turns;
}

std::vector<std::int32_t> packed() { return {0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3}; }
std::vector<std::int32_t> round_robin() { return {0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3}; }

const Request kBroadcast{.collective = Collective::kBroadcast, .ranks = 16, .count = 100};
const Method kWhole{Algorithm::kBinomial, 0};

TEST(Links, MakeTheLargestSubtreeFirstAndTheNextWait) {
  const std::vector<std::int32_t> nodes = packed();
  const Links links{.node_of = nodes};
  // Ranks 1 and 2 are on the root's node.
  EXPECT_EQ(turns_of(make(kBroadcast, kWhole, 0, &links)), (Sends{{8, {}}, {4, {8}}, {2, {}}, {1, {}}}));
  EXPECT_EQ(turns_of(make(kBroadcast, kWhole, 8, &links)), (Sends{{12, {}}, {10, {}}, {9, {}}}));
}

TEST(Links, MakeNoSendWaitForALeaf) {
  const Links links;  // every rank has a node of its own
  EXPECT_EQ(turns_of(make(kBroadcast, kWhole, 0, &links)), (Sends{{8, {}}, {4, {8}}, {2, {4}}, {1, {2}}}));
  Request six = kBroadcast;
  six.ranks = 6;  // rank 5 is below rank 4; rank 2 has rank 3
  EXPECT_EQ(turns_of(make(six, kWhole, 0, &links)), (Sends{{4, {}}, {2, {4}}, {1, {2}}}));
  EXPECT_EQ(turns_of(make(six, {Algorithm::kBinary, 0}, 0, &links)), (Sends{{1, {}}, {2, {}}}));
  for (const auto& [peer, earlier] : turns_of(make(kBroadcast, {Algorithm::kFlat, 0}, 0, &links))) {
    EXPECT_TRUE(earlier.empty()) << peer;
  }
}

TEST(Links, LeaveTheHalvesOfSplitBinaryAlone) {
  const Links links;
  const Method split{Algorithm::kSplitBinary, 0};
  for (Rank rank = 0; rank < 16; ++rank)
    EXPECT_EQ(make(kBroadcast, split, rank, &links), make(kBroadcast, split, rank));
}

TEST(Links, OrderTheSendsAcrossOfAnyPlacement) {
  const std::vector<std::int32_t> nodes = round_robin();
  const Links links{.node_of = nodes};
  EXPECT_EQ(turns_of(make(kBroadcast, kWhole, 0, &links)), (Sends{{8, {}}, {4, {}}, {2, {}}, {1, {2}}}));
}

TEST(Links, OrderScattersByWholeSubtrees) {
  const std::vector<std::int32_t> nodes = packed();
  const Links links{.node_of = nodes};
  // From root 3, the blocks below ranks 11 and 7; those of the first are in two runs.
  const Request scatter{.collective = Collective::kScatter, .ranks = 16, .root = 3, .count = 10};
  const Sends turns = turns_of(make(scatter, kWhole, 3, &links));
  EXPECT_EQ(turns.at(11), (std::vector<Rank>{}));
  EXPECT_EQ(turns.at(7), (std::vector<Rank>{11, 11}));
  EXPECT_EQ(turns.at(5), (std::vector<Rank>{7}));
  EXPECT_EQ(turns.at(4), (std::vector<Rank>{5}));
}

TEST(Links, MakeEachBlockOfARingWaitForTheOneBefore) {
  const std::vector<std::int32_t> nodes{0, 0, 0, 0, 0, 1, 1, 1, 2};
  const Links links{.node_of = nodes, .least = 10};
  for (const Collective collective : {Collective::kAllgather, Collective::kReduceScatter}) {
    const Request blocks{.collective = collective, .ranks = 9, .count = 40};
    const Method ring{Algorithm::kRing, 0};
    // Rank 4 is its node's last. Its eight blocks: the first waits for none.
    EXPECT_EQ(turns_of(make(blocks, ring, 4, &links)), (Sends{{5, std::vector<Rank>(7, 5)}}));
    EXPECT_EQ(turns_of(make(blocks, ring, 8, &links)), (Sends{{0, std::vector<Rank>(7, 0)}}));
    EXPECT_EQ(make(blocks, ring, 3, &links), make(blocks, ring, 3));
    const Links longer{.node_of = nodes, .least = 11};
    EXPECT_EQ(make(blocks, ring, 4, &longer), make(blocks, ring, 4));
  }
}

TEST(Links, OrderTheLeadersOfAHierarchy) {
  const std::vector<std::int32_t> nodes{0, 0, 1, 1, 2, 2, 3, 3};
  const Links links{.node_of = nodes};
  const std::vector<std::vector<std::int32_t>> colours{nodes};
  const Request request{.collective = Collective::kBroadcast, .ranks = 8, .count = 100};
  const Composition composition{.algorithms = {Algorithm::kBinomial}};
  const Program leader = transform(request, Hierarchy::from_colours(colours), composition, 0, &links);
  EXPECT_EQ(turns_of(leader), (Sends{{4, {}}, {2, {4}}, {1, {}}}));
}

TEST(Links, LeaveShortMessagesSegmentsAndOneNodeAlone) {
  const std::vector<std::int32_t> nodes = packed();
  const std::vector<std::int32_t> one(16, 0);
  const Links links{.node_of = nodes, .least = 1};
  const Links longer{.node_of = nodes, .least = 101};
  const Links inside{.node_of = one, .least = 1};
  for (Rank rank = 0; rank < 16; ++rank) {
    EXPECT_EQ(make(kBroadcast, kWhole, rank, &longer), make(kBroadcast, kWhole, rank));
    EXPECT_EQ(make(kBroadcast, kWhole, rank, &inside), make(kBroadcast, kWhole, rank));
    const Method segments{Algorithm::kBinomial, 99};
    EXPECT_EQ(make(kBroadcast, segments, rank, &links), make(kBroadcast, segments, rank));
  }
  EXPECT_NE(make(kBroadcast, {Algorithm::kBinomial, 100}, 0, &links), make(kBroadcast, kWhole, 0));
}

}  // namespace
}  // namespace ranktree::core::schedule
