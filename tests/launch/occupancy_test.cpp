#include "core/topo/occupancy.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/base/error.h"

namespace ranktree::core::topo {
namespace {

// One host of two cores with two hardware threads each: 0 and 2, 1 and 3.
const std::vector<HostPus> kHost = {{"n0", {{0, 2}, {1, 3}}}};

std::vector<std::string> found(const std::vector<RankPlace>& ranks, const std::vector<HostPus>& hosts = kHost) {
  std::vector<std::string> lines;
  for (const Finding& finding : check_occupancy(ranks, hosts)) {
    std::string line = std::string(trouble_name(finding.trouble)) + " " + finding.host + ":";
    for (const int rank : finding.ranks) line += " " + std::to_string(rank);
    line += " |";
    for (const int pu : finding.pus) line += " " + std::to_string(pu);
    lines.push_back(line);
  }
  return lines;
}

using Lines = std::vector<std::string>;

TEST(CheckOccupancy, FindsNothingWrongWithOneRankAPu) {
  EXPECT_EQ(found({{"n0", {0}}, {"n0", {1}}, {"n0", {2}}}), Lines{});
}

TEST(CheckOccupancy, NamesRanksThatMayRunEverywhere) {
  EXPECT_EQ(found({{"n0", {0, 1, 2, 3}}, {"n0", {1}}, {"n0", {0, 1, 2, 3}}}), Lines{"unbound n0: 0 2 | 0 1 2 3"});
}

TEST(CheckOccupancy, TakesTheUsablePusNotTheHostsForTheWhole) {
  EXPECT_EQ(found({{"n0", {0, 2}}}, {{"n0", {{0, 2}}}}), Lines{"unbound n0: 0 | 0 2"});
}

TEST(CheckOccupancy, CallsARankOnAOnePuHostBound) { EXPECT_EQ(found({{"n0", {0}}}, {{"n0", {{0}}}}), Lines{}); }

TEST(CheckOccupancy, NamesRanksThatShareWhilePusAreFree) {
  EXPECT_EQ(found({{"n0", {0, 2}}, {"n0", {1}}, {"n0", {2}}}), Lines{"overlapping n0: 0 2 | 0 2"});
}

TEST(CheckOccupancy, JoinsRanksThatReachEachOtherThroughAThird) {
  EXPECT_EQ(found({{"n0", {0, 1}}, {"n0", {3}}, {"n0", {1, 2}}}), Lines{"overlapping n0: 0 2 | 0 1 2"});
}

TEST(CheckOccupancy, NamesMoreRanksThanPus) {
  EXPECT_EQ(found({{"n0", {1}}, {"n0", {0}}, {"n0", {1}}}), Lines{"oversubscribed n0: 0 2 | 1"});
}

TEST(CheckOccupancy, CountsUnboundRanksAgainstTheWholeHost) {
  const std::vector<HostPus> two = {{"n0", {{0}, {1}}}};
  EXPECT_EQ(found({{"n0", {0, 1}}, {"n0", {0, 1}}, {"n0", {0}}}, two),
            (Lines{"unbound n0: 0 1 | 0 1", "oversubscribed n0: 0 1 2 | 0 1"}));
}

TEST(CheckOccupancy, KeepsHostsApart) {
  EXPECT_EQ(found({{"n1", {0}}, {"n0", {0}}, {"n1", {0}}}, {{"n0", {{0}, {1}}}, {"n1", {{0}, {1}}}}),
            Lines{"oversubscribed n1: 0 2 | 0"});
}

TEST(CheckOccupancy, CallsNoRankUnboundOnAHostItKnowsNothingOf) { EXPECT_EQ(found({{"n9", {0, 1}}}), Lines{}); }

TEST(CheckOccupancy, RefusesARankWithoutPus) { EXPECT_THROW(found({{"n0", {0}}, {"n0", {}}}), Error); }

TEST(Misplaced, NamesWrongHostsAndWrongPus) {
  const std::vector<RankPlace> expected = {{"n0", {0}}, {"n1", {1}}, {"", {2}}};
  const std::vector<RankPlace> real = {{"n1", {0}}, {"n1.org", {0, 1}}, {"n5", {2}}};
  const auto wrong = misplaced(expected, real, true);
  ASSERT_EQ(wrong.size(), 2U);
  EXPECT_EQ(wrong[0].rank, 0);
  EXPECT_EQ(wrong[0].found.host, "n1");
  EXPECT_EQ(wrong[1].rank, 1);
  EXPECT_EQ(wrong[1].expected.pus, std::vector<int>{1});
  EXPECT_EQ(misplaced(expected, real, false).size(), 1U) << "without PUs only the host counts";
}

TEST(Misplaced, RefusesOtherNumbersOfRanks) {
  const std::vector<RankPlace> one = {{"n0", {0}}};
  EXPECT_THROW((void)misplaced(one, {}, true), Error);
}

TEST(SameHost, ComparesDomainsOnlyWhereBothHaveOne) {
  EXPECT_TRUE(same_host("n0", "n0.a.org"));
  EXPECT_TRUE(same_host("n0.a.org", "n0"));
  EXPECT_FALSE(same_host("n0.a.org", "n0.b.org"));
  EXPECT_FALSE(same_host("n0", "n00"));
}

}  // namespace
}  // namespace ranktree::core::topo
